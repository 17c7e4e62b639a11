#include "base/tuple.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

void tuples_init(struct tuples *tuples, uint32_t key_words, uint32_t row_words)
{
	*tuples = (struct tuples){ .key_words = key_words, .row_words = row_words };
}

void tuples_fini(struct tuples *tuples)
{
	free(tuples->words);
	free(tuples->slots);
	*tuples = (struct tuples){ 0 };
}

enum { FIRST_ROWS = 32, FIRST_SLOTS = 64 };

size_t tuples_bytes(const struct tuples *tuples, size_t count)
{
	return memory_doubled(count, FIRST_ROWS) * tuples->row_words * sizeof *tuples->words +
		memory_doubled(2 * count + 1, FIRST_SLOTS) * sizeof *tuples->slots;
}

static uint32_t key_hash(const uint64_t *key, uint32_t words)
{
	uint64_t hash = 0;
	for (uint32_t i = 0; i < words; i++)
		hash = hash_pair(hash, key[i]);
	return (uint32_t)hash;
}

static bool key_equal(const uint64_t *a, const uint64_t *b, uint32_t words)
{
	for (uint32_t i = 0; i < words; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

static void grow_slots(struct tuples *tuples)
{
	free(tuples->slots);
	tuples->slot_count = tuples->slot_count ? tuples->slot_count * 2 : FIRST_SLOTS;
	tuples->slots = memory_table(tuples->slot_count, sizeof *tuples->slots);
	uint32_t mask = tuples->slot_count - 1;
	for (uint32_t id = 0; id < tuples->count; id++) {
		uint32_t at = key_hash(tuples_row(tuples, id), tuples->key_words) & mask;
		while (tuples->slots[at])
			at = (at + 1) & mask;
		tuples->slots[at] = id + 1;
	}
}

uint32_t tuples_add(struct tuples *tuples, const uint64_t *row)
{
	if (tuples->count >= tuples->slot_count / 2)
		grow_slots(tuples);
	uint32_t mask = tuples->slot_count - 1;
	uint32_t at = key_hash(row, tuples->key_words) & mask;
	for (; tuples->slots[at]; at = (at + 1) & mask) {
		uint32_t id = tuples->slots[at] - 1;
		if (key_equal(tuples_row(tuples, id), row, tuples->key_words))
			return id;
	}
	if (tuples->count == tuples->capacity) {
		tuples->capacity = tuples->capacity ? tuples->capacity * 2 : FIRST_ROWS;
		tuples->words = memory_resize(tuples->words, (size_t)tuples->capacity * tuples->row_words + 1, sizeof *tuples->words);
	}
	memcpy(tuples_row(tuples, tuples->count), row, tuples->row_words * sizeof *row);
	tuples->slots[at] = ++tuples->count;
	return tuples->count - 1;
}
