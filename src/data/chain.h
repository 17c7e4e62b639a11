/* Bytes that arrive in pieces and leave as records: chunks that never move, freed as their records are released.
 *
 * Only the last chunk is filled and parsed; a record that its end cuts is carried over to a fresh one. Knows no format. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct chunk {
	struct chunk *next;
	uint64_t end_mark;   /* of the last record that lies in it */
	size_t at, len, capacity; /* handed out up to `at`, filled up to `len` */
	_Alignas(16) uint8_t data[];
};

struct chain {
	struct chunk *first, *last, *spare;
};

void chain_fini(struct chain *chain); /* also of a zeroed one */
/* Room for at least `want` bytes right behind those that are not handed out yet; *room tells how much there is. */
uint8_t *chain_room(struct chain *chain, size_t want, size_t *room);
/* n bytes were written there. */
void chain_filled(struct chain *chain, size_t n);
/* Frees the chunks whose records all ended at or before mark, but for the one in use. */
void chain_release(struct chain *chain, uint64_t mark);

static inline size_t chain_left(const struct chain *chain)
{
	return chain->last ? chain->last->len - chain->last->at : 0;
}

static inline uint8_t *chain_at(const struct chain *chain)
{
	return chain->last->data + chain->last->at;
}

/* Hands n of the bytes left out; they stay until `mark` is released. */
static inline void chain_take(struct chain *chain, size_t n, uint64_t mark)
{
	chain->last->at += n;
	chain->last->end_mark = mark;
}
