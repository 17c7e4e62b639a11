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

static uint32_t key_hash(const struct tuples *tuples, const uint64_t *key)
{
	uint64_t hash = tuples->secret;
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
	struct tuple_slot *old = tuples->slots;
	uint32_t old_count = tuples->slot_count;
	tuples->slot_count = old_count ? old_count * 2 : FIRST_SLOTS;
	tuples->slots = memory_table(tuples->slot_count, sizeof *tuples->slots);
	if (!old)
		tuples->secret = (uintptr_t)tuples->slots;
	uint32_t mask = tuples->slot_count - 1;
	for (uint32_t i = 0; i < old_count; i++) {
		uint32_t at = old[i].hash & mask;
		if (!old[i].row)
			continue;
		while (tuples->slots[at].row)
			at = (at + 1) & mask;
		tuples->slots[at] = old[i];
	}
	free(old);
}

/* The slot of the row with that key, or the free one for it. */
static struct tuple_slot *slot_of(const struct tuples *tuples, const uint64_t *key, uint32_t hash)
{
	uint32_t mask = tuples->slot_count - 1, at = hash & mask;
	for (;; at = (at + 1) & mask) {
		struct tuple_slot *slot = &tuples->slots[at];
		if (!slot->row || (slot->hash == hash && key_equal(tuples_row(tuples, slot->row - 1), key, tuples->key_words)))
			return slot;
	}
}

uint32_t tuples_find(const struct tuples *tuples, const uint64_t *key)
{
	return tuples->slot_count ? slot_of(tuples, key, key_hash(tuples, key))->row - 1 : TUPLE_NONE;
}

void tuples_fetch(const struct tuples *tuples, const uint64_t *key)
{
	if (tuples->slot_count)
		__builtin_prefetch(&tuples->slots[key_hash(tuples, key) & (tuples->slot_count - 1)]);
}

uint32_t tuples_add(struct tuples *tuples, const uint64_t *row)
{
	if (tuples->count >= tuples->slot_count / 2)
		grow_slots(tuples);
	uint32_t hash = key_hash(tuples, row);
	struct tuple_slot *slot = slot_of(tuples, row, hash);
	if (slot->row)
		return slot->row - 1;
	if (tuples->count == tuples->capacity) {
		tuples->capacity = tuples->capacity ? tuples->capacity * 2 : FIRST_ROWS;
		tuples->words = memory_resize(tuples->words, (size_t)tuples->capacity * tuples->row_words + 1, sizeof *tuples->words);
	}
	memcpy(tuples_row(tuples, tuples->count), row, tuples->row_words * sizeof *row);
	*slot = (struct tuple_slot){ .row = ++tuples->count, .hash = hash };
	return tuples->count - 1;
}
