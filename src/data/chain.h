/* A buffer between reading and parsing: chunks that never move, freed when their records are released.
 *
 * Only the last chunk is filled and parsed; a record that its end cuts is moved to a new one. Knows no format. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct chunk {
	struct chunk *next;
	uint64_t end_mark;   /* of the last record in the chunk */
	size_t at, len, capacity; /* consumed up to `at`, filled up to `len` */
	_Alignas(16) uint8_t data[];
};

struct chain {
	struct chunk *first, *last, *spare;
};

void chain_fini(struct chain *chain); /* accepts a zeroed chain */
/* Returns room for at least `want` bytes directly after the unconsumed ones; stores its size in *room. */
uint8_t *chain_room(struct chain *chain, size_t want, size_t *room);
/* Reports that n bytes were written there. */
void chain_filled(struct chain *chain, size_t n);
/* Frees the chunks whose records all ended at or before mark, except the one in use. */
void chain_release(struct chain *chain, uint64_t mark);

static inline size_t chain_left(const struct chain *chain)
{
	return chain->last ? chain->last->len - chain->last->at : 0;
}

static inline uint8_t *chain_at(const struct chain *chain)
{
	return chain->last->data + chain->last->at;
}

/* Consumes n of the buffered bytes; they are retained until `mark` is released. */
static inline void chain_take(struct chain *chain, size_t n, uint64_t mark)
{
	chain->last->at += n;
	chain->last->end_mark = mark;
}
