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

/* It depends on the address of the slots, too. */
static uint32_t key_hash(const struct tuples *tuples, const uint64_t *key)
{
	uint64_t hash = (uintptr_t)tuples->slots;
	for (uint32_t i = 0; i < tuples->key_words; i++)
		hash = hash_u64(hash ^ key[i]);
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
		uint32_t at = key_hash(tuples, tuples_row(tuples, id)) & mask;
		while (tuples->slots[at])
			at = (at + 1) & mask;
		tuples->slots[at] = id + 1;
	}
}

/* The slot of the row with that key, or the free one for it. */
static uint32_t *slot_of(const struct tuples *tuples, const uint64_t *key)
{
	uint32_t mask = tuples->slot_count - 1, at = key_hash(tuples, key) & mask;
	while (tuples->slots[at] && !key_equal(tuples_row(tuples, tuples->slots[at] - 1), key, tuples->key_words))
		at = (at + 1) & mask;
	return &tuples->slots[at];
}

uint32_t tuples_find(const struct tuples *tuples, const uint64_t *key)
{
	return tuples->slot_count ? *slot_of(tuples, key) - 1 : TUPLE_NONE;
}

uint32_t tuples_add(struct tuples *tuples, const uint64_t *row)
{
	if (tuples->count >= tuples->slot_count / 2)
		grow_slots(tuples);
	uint32_t *slot = slot_of(tuples, row);
	if (*slot)
		return *slot - 1;
	if (tuples->count == tuples->capacity) {
		tuples->capacity = tuples->capacity ? tuples->capacity * 2 : FIRST_ROWS;
		tuples->words = memory_resize(tuples->words, (size_t)tuples->capacity * tuples->row_words + 1, sizeof *tuples->words);
	}
	memcpy(tuples_row(tuples, tuples->count), row, tuples->row_words * sizeof *row);
	*slot = ++tuples->count;
	return tuples->count - 1;
}
