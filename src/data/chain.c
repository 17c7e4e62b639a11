#include "data/chain.h"

#include <string.h>

#include "base/memory.h"

#define CHUNK_BYTES ((size_t)1 << 20)

static void chunks_free(struct chunk *chunk)
{
	while (chunk) {
		struct chunk *next = chunk->next;
		free(chunk);
		chunk = next;
	}
}

void chain_fini(struct chain *chain)
{
	chunks_free(chain->first);
	free(chain->spare);
	*chain = (struct chain){ 0 };
}

static struct chunk *chunk_get(struct chain *chain, size_t want)
{
	struct chunk *chunk = chain->spare;
	if (chunk && chunk->capacity >= want) {
		chain->spare = NULL;
	} else {
		size_t capacity = want > CHUNK_BYTES ? want : CHUNK_BYTES;
		chunk = memory_alloc(sizeof *chunk + capacity);
		chunk->capacity = capacity;
	}
	chunk->next = NULL;
	chunk->end_mark = 0;
	chunk->at = chunk->len = 0;
	return chunk;
}

uint8_t *chain_room(struct chain *chain, size_t want, size_t *room)
{
	struct chunk *old = chain->last;
	size_t left = chain_left(chain);
	if (!old || old->capacity - old->len < want) {
		struct chunk *chunk = chunk_get(chain, left + want);
		if (left)
			memcpy(chunk->data, old->data + old->at, left);
		chunk->len = left;
		if (old) {
			old->len = old->at;
			old->next = chunk;
		} else {
			chain->first = chunk;
		}
		chain->last = chunk;
	}
	*room = chain->last->capacity - chain->last->len;
	return chain->last->data + chain->last->len;
}

void chain_filled(struct chain *chain, size_t n)
{
	chain->last->len += n;
}

void chain_release(struct chain *chain, uint64_t mark)
{
	while (chain->first != chain->last && chain->first->end_mark <= mark) {
		struct chunk *chunk = chain->first;
		chain->first = chunk->next;
		if (!chain->spare && chunk->capacity == CHUNK_BYTES)
			chain->spare = chunk;
		else
			free(chunk);
	}
}
