/* The table of tallies: open addressing over their keys. */
#include <stdlib.h>
#include <string.h>

#include "analysis/profile/collector.h"
#include "base/hash.h"
#include "base/memory.h"

void tallies_fini(struct tallies *tallies)
{
	free(tallies->items);
	free(tallies->sums);
	free(tallies->slots);
	*tallies = (struct tallies){ 0 };
}

enum { FIRST_TALLIES = 256 };

size_t tallies_bytes(size_t count, bool sums)
{
	return memory_doubled(count, FIRST_TALLIES) * (sizeof(struct tally) + (sums ? sizeof(struct tally_sums) : 0)) +
		memory_doubled(2 * count + 1, FIRST_TALLIES) * sizeof(uint32_t);
}

static uint32_t tally_hash(const struct tally *tally)
{
	return (uint32_t)hash_pair((uint64_t)tally->node << 32 | tally->place,
		(uint64_t)tally->sample_key << 32 | (uint32_t)tally->stale << 16 | (uint32_t)tally->cpumode << 8 | tally->filtered);
}

static bool tally_same(const struct tally *a, const struct tally *b)
{
	return a->node == b->node && a->place == b->place && a->sample_key == b->sample_key && a->cpumode == b->cpumode &&
	       a->filtered == b->filtered && a->stale == b->stale;
}

static void grow_slots(struct tallies *tallies)
{
	free(tallies->slots);
	tallies->slot_count = tallies->slot_count ? tallies->slot_count * 2 : FIRST_TALLIES;
	tallies->slots = memory_table(tallies->slot_count, sizeof *tallies->slots);
	uint32_t mask = tallies->slot_count - 1;
	for (uint32_t i = 0; i < tallies->count; i++) {
		uint32_t at = tally_hash(&tallies->items[i]) & mask;
		while (tallies->slots[at])
			at = (at + 1) & mask;
		tallies->slots[at] = i + 1;
	}
}

static void grow_items(struct tallies *tallies, bool sums)
{
	tallies->capacity = tallies->capacity ? tallies->capacity * 2 : FIRST_TALLIES;
	tallies->items = memory_resize(tallies->items, tallies->capacity, sizeof *tallies->items);
	if (sums)
		tallies->sums = memory_resize(tallies->sums, tallies->capacity, sizeof *tallies->sums);
}

struct tally *tallies_add(struct tallies *tallies, const struct tally *key, const struct tally_sums *sums)
{
	if (tallies->count >= tallies->slot_count / 2)
		grow_slots(tallies);
	uint32_t mask = tallies->slot_count - 1;
	uint32_t at = tally_hash(key) & mask;
	for (; tallies->slots[at]; at = (at + 1) & mask) {
		uint32_t index = tallies->slots[at] - 1;
		struct tally *tally = &tallies->items[index];
		if (!tally_same(tally, key))
			continue;
		tally->period += key->period;
		tally->count += key->count;
		if (sums)
			for (unsigned i = 0; i < 3; i++)
				tallies->sums[index].weight[i] += sums->weight[i];
		return tally;
	}
	if (tallies->count == tallies->capacity)
		grow_items(tallies, sums);
	tallies->items[tallies->count] = *key;
	if (sums)
		tallies->sums[tallies->count] = *sums;
	tallies->slots[at] = ++tallies->count;
	return &tallies->items[tallies->count - 1];
}

void tallies_add_near(struct tallies *tallies, const struct tally *key, uint32_t *near)
{
	if (*near) {
		struct tally *tally = &tallies->items[*near - 1];
		if (tally_same(tally, key)) {
			tally->period += key->period;
			tally->count += key->count;
			return;
		}
	}
	*near = (uint32_t)(tallies_add(tallies, key, NULL) - tallies->items) + 1;
}
