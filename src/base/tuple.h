/* Interned rows of a fixed number of words: equal keys get equal ids, consecutive from 0. The words behind the key are data of the first
 * row with that key. Does not interpret the words, which an attacker may choose (base/hash.h). */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct tuples {
	uint64_t *words;
	uint32_t key_words, row_words; /* of one row; row_words >= key_words */
	uint32_t count, capacity;
	struct tuple_slot {
		uint32_t row;          /* its id + 1, 0 if free */
		uint32_t hash;         /* of its key: it differs for most other keys, whose rows are not read */
	} *slots;                      /* open addressing */
	uint32_t slot_count;           /* a power of two */
	uint64_t secret;               /* an address, on which the hashes depend */
};

void tuples_init(struct tuples *tuples, uint32_t key_words, uint32_t row_words);
void tuples_fini(struct tuples *tuples); /* accepts a zeroed set */

#define TUPLE_NONE 0xffffffffu

/* The id of the row whose key equals row's; a new row is a copy of the whole row. */
uint32_t tuples_add(struct tuples *tuples, const uint64_t *row);
/* The id of the row with that key; TUPLE_NONE: none. */
uint32_t tuples_find(const struct tuples *tuples, const uint64_t *key);

/* Fetches into the caches what adding a row with that key will read. */
void tuples_fetch(const struct tuples *tuples, const uint64_t *key);

/* Bytes that the memory of the set takes when it has `count` rows. */
size_t tuples_bytes(const struct tuples *tuples, size_t count);

/* Valid until the next tuples_add. */
static inline uint64_t *tuples_row(const struct tuples *tuples, uint32_t id)
{
	return tuples->words + (uint64_t)id * tuples->row_words;
}
