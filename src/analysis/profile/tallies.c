/* The table of tallies: open addressing over their keys. */
#include <stdlib.h>
#include <string.h>

#include "analysis/profile/collector.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/pool.h"

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

/* It depends on the address of the slots, too (base/hash.h). */
static uint32_t tally_hash(const struct tallies *tallies, const struct tally *tally)
{
	return (uint32_t)hash_pair(((uint64_t)tally->node << 32 | tally->place) ^ (uintptr_t)tallies->slots,
		(uint64_t)tally->sample_key << 32 | (uint32_t)tally->stale << 16 | (uint32_t)tally->cpumode << 8 | tally->filtered);
}

static bool tally_same(const struct tally *a, const struct tally *b)
{
	return a->node == b->node && a->place == b->place && a->sample_key == b->sample_key && a->cpumode == b->cpumode &&
	       a->filtered == b->filtered && a->stale == b->stale;
}

/* Until there are more than twice as many slots as `count`. */
static void grow_slots(struct tallies *tallies, uint32_t count)
{
	free(tallies->slots);
	tallies->slot_count = (uint32_t)memory_doubled(2 * (size_t)count + 1, tallies->slot_count ? tallies->slot_count : FIRST_TALLIES);
	tallies->slots = memory_table(tallies->slot_count, sizeof *tallies->slots);
	uint32_t mask = tallies->slot_count - 1;
	for (uint32_t i = 0; i < tallies->count; i++) {
		uint32_t at = tally_hash(tallies, &tallies->items[i]) & mask;
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

#define TALLY_ABSENT UINT32_MAX

/* Returns the index of the tally with this key, or TALLY_ABSENT; *at: its slot, or a free one. There is a free slot. */
static uint32_t find(const struct tallies *tallies, const struct tally *key, uint32_t *at)
{
	uint32_t mask = tallies->slot_count - 1;
	for (*at = tally_hash(tallies, key) & mask; tallies->slots[*at]; *at = (*at + 1) & mask)
		if (tally_same(&tallies->items[tallies->slots[*at] - 1], key))
			return tallies->slots[*at] - 1;
	return TALLY_ABSENT;
}

static struct tally *add_to(struct tallies *tallies, uint32_t index, const struct tally *more, const struct tally_sums *sums)
{
	struct tally *tally = &tallies->items[index];
	tally->period += more->period;
	tally->count += more->count;
	for (unsigned i = 0; sums && i < 3; i++)
		tallies->sums[index].weight[i] += sums->weight[i];
	return tally;
}

struct tally *tallies_add(struct tallies *tallies, const struct tally *key, const struct tally_sums *sums)
{
	uint32_t at;
	if (tallies->count >= tallies->slot_count / 2)
		grow_slots(tallies, tallies->count);
	uint32_t index = find(tallies, key, &at);
	if (index != TALLY_ABSENT)
		return add_to(tallies, index, key, sums);
	if (tallies->count == tallies->capacity)
		grow_items(tallies, sums);
	tallies->items[tallies->count] = *key;
	if (sums)
		tallies->sums[tallies->count] = *sums;
	tallies->slots[at] = ++tallies->count;
	return &tallies->items[tallies->count - 1];
}

enum { MERGE_TALLIES = 4096 }; /* of a job */

/* No two tallies of `from` are the same here, so that jobs never change the same one. */
struct tally_merge {
	struct tallies *tallies;
	const struct tallies *from;
	const struct tally_numbers *numbers;
	uint32_t *ids;
	uint32_t *fresh;     /* by job: its tallies that are new, then the index of the first of them */
};

static struct tally tally_here(const struct tally_merge *m, uint32_t i)
{
	struct tally tally = m->from->items[i];
	tally.sample_key = m->numbers->sample_keys[tally.sample_key];
	tally.node = m->numbers->nodes[tally.node];
	tally.place = m->numbers->places[tally.place];
	return tally;
}

static uint32_t job_end(const struct tally_merge *m, size_t job)
{
	uint32_t first = (uint32_t)job * MERGE_TALLIES, left = m->from->count - first;
	return first + (left < MERGE_TALLIES ? left : MERGE_TALLIES);
}

/* Adds the tallies that have a sum here. */
static void add_known(void *context, size_t job, unsigned worker)
{
	const struct tally_merge *m = context;
	for (uint32_t i = (uint32_t)job * MERGE_TALLIES; i < job_end(m, job); i++) {
		struct tally tally = tally_here(m, i);
		uint32_t at;
		m->ids[i] = m->tallies->count ? find(m->tallies, &tally, &at) : TALLY_ABSENT;
		if (m->ids[i] == TALLY_ABSENT) {
			m->fresh[job]++;
			continue;
		}
		struct tally *sum = add_to(m->tallies, m->ids[i], &tally, m->from->sums ? &m->from->sums[i] : NULL);
		if (tally.first < sum->first) {
			sum->first = tally.first;
			sum->thread = tally.thread;
			sum->tid = tally.tid;
			sum->level = tally.level;
			sum->cpu = tally.cpu;
		}
	}
}

/* Lists the others, whose slots other jobs may want, too. */
static void add_fresh(void *context, size_t job, unsigned worker)
{
	const struct tally_merge *m = context;
	uint32_t index = m->fresh[job], mask = m->tallies->slot_count - 1;
	for (uint32_t i = (uint32_t)job * MERGE_TALLIES; i < job_end(m, job); i++) {
		if (m->ids[i] != TALLY_ABSENT)
			continue;
		struct tally tally = tally_here(m, i);
		uint32_t at = tally_hash(m->tallies, &tally) & mask, none = 0;
		while (!__atomic_compare_exchange_n(&m->tallies->slots[at], &none, index + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
			at = (at + 1) & mask;
			none = 0;
		}
		m->tallies->items[index] = tally;
		if (m->from->sums)
			m->tallies->sums[index] = m->from->sums[i];
		m->ids[i] = index++;
	}
}

void tallies_merge(struct tallies *tallies, const struct tallies *from, const struct tally_numbers *numbers, uint32_t *ids,
	struct pool *pool)
{
	size_t jobs = (from->count + MERGE_TALLIES - 1) / MERGE_TALLIES;
	uint32_t *fresh CLEANUP_FREE = memory_zero(jobs + 1, sizeof *fresh), count = tallies->count;
	struct tally_merge m = { .tallies = tallies, .from = from, .numbers = numbers, .ids = ids, .fresh = fresh };
	pool_run(pool, jobs, add_known, &m);
	for (size_t job = 0; job < jobs; job++) {
		uint32_t here = fresh[job];
		fresh[job] = count;
		count += here;
	}
	while (tallies->capacity < count)
		grow_items(tallies, from->sums);
	if (count >= tallies->slot_count / 2)
		grow_slots(tallies, count);
	pool_run(pool, jobs, add_fresh, &m);
	tallies->count = count;
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
