/* The exchange of all pairs in one thread: which end does what when bytes of a message arrive. How the thread waits belongs to the
 * model. */
#pragma once
#include "turns/models.h"

struct exchange_pair {
	struct channel channel;
	struct work work[2];
	uint32_t got[2];       /* bytes of the message that each end is receiving */
	uint64_t rounds;       /* that remain */
	uint64_t began_ns;     /* of the current round */
};

struct exchange {
	struct turns_run *run;
	struct exchange_pair *pairs;
	uint32_t opened;
	uint32_t unfinished;   /* pairs with rounds that remain */
	void *context;
	/* Sends the message of an end. Returns < 0 if that fails. */
	int (*send)(void *context, uint32_t pair, unsigned end, struct error *err);
};

int exchange_open(struct exchange *exchange, struct turns_run *run, struct error *err);
void exchange_close(struct exchange *exchange);
/* The first end of each pair sends its first message. */
int exchange_begin(struct exchange *exchange, struct error *err);
/* An end has received bytes (0 < bytes ≤ what the message lacks). */
int exchange_received(struct exchange *exchange, uint32_t pair, unsigned end, uint32_t bytes, struct error *err);
/* The bytes that an end has not received of its message. */
uint32_t exchange_missing(const struct exchange *exchange, uint32_t pair, unsigned end);
