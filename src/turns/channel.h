/* Two ends that exchange messages: the ways of turns.h that have pairs. */
#pragma once
#include "turns/plan.h"

/* An end: what it reads from and writes to; of a futex, whose turn it is. */
struct channel_end {
	int in, out;             /* descriptors; one descriptor twice for sockets; -1: none */
	uint32_t *turn;          /* shared by both ends: the number of the end that runs */
	uint32_t number;         /* 0, 1 */
};

struct channel {
	enum turn_way way;
	struct channel_end ends[2];
	uint32_t turn __attribute__((aligned(64)));
};

/* nonblocking: for the models that wait for many ends. */
int channel_open(struct channel *channel, enum turn_way way, bool nonblocking, struct error *err);
void channel_close(struct channel *channel);
/* The bytes of a message: TURNS_BYTES_MAX zeros; for an eventfd the number 1, which it adds. */
const void *channel_message(const struct channel *channel);
/* Sends or receives a whole message, waits if necessary. Return false if the other end is gone. */
bool channel_send(const struct channel *channel, unsigned end, uint32_t bytes);
bool channel_receive(const struct channel *channel, unsigned end, char *message, uint32_t bytes);
