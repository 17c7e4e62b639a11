#include "base/radix.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"

enum {
	INSERTED = 24,         /* up to this many are inserted one by one */
	SERIAL_ITEMS = 32768,  /* up to this many are sorted on the calling thread */
	FEW_ITEMS = 4096,
	FEW_BITS = 8,          /* of a digit, if the items are few */
	BITS = 11,
	DIGITS = 1 << BITS,
};

/* Consecutive items, which one job reads. */
struct radix_part {
	size_t first, end;
	uint64_t varying;      /* bits in which a key differs from the first item's */
	uint32_t at[DIGITS];   /* how many items have each digit; then where the next of them goes */
};

struct sorting {
	const struct radix_item *from;
	struct radix_item *to;
	struct radix_part *parts;
	unsigned shift, bits;
};

void radix_init(struct radix *radix, size_t count)
{
	*radix = (struct radix){ .count = count };
	radix->items = memory_large((count + 1) * sizeof *radix->items);
	radix->spare = memory_large((count + 1) * sizeof *radix->spare);
}

void radix_fini(struct radix *radix)
{
	free(radix->items);
	free(radix->spare);
	*radix = (struct radix){ 0 };
}

static void insert(struct radix_item *items, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct radix_item item = items[i];
		size_t at = i;
		for (; at && items[at - 1].key > item.key; at--)
			items[at] = items[at - 1];
		items[at] = item;
	}
}

static inline uint32_t digit(const struct sorting *s, const struct radix_item *item)
{
	return (uint32_t)(item->key >> s->shift) & ((1u << s->bits) - 1);
}

static void compare_part(void *context, size_t job, unsigned worker)
{
	const struct sorting *s = context;
	struct radix_part *part = &s->parts[job];
	part->varying = 0;
	for (size_t i = part->first; i < part->end; i++)
		part->varying |= s->from[i].key ^ s->from[0].key;
}

static void count_part(void *context, size_t job, unsigned worker)
{
	const struct sorting *s = context;
	struct radix_part *part = &s->parts[job];
	memset(part->at, 0, sizeof *part->at << s->bits);
	for (size_t i = part->first; i < part->end; i++)
		part->at[digit(s, &s->from[i])]++;
}

static void move_part(void *context, size_t job, unsigned worker)
{
	const struct sorting *s = context;
	struct radix_part *part = &s->parts[job];
	for (size_t i = part->first; i < part->end; i++)
		s->to[part->at[digit(s, &s->from[i])]++] = s->from[i];
}

/* From how many items have a digit to where they go: behind those with a smaller one, and those of the parts before. */
static void place_parts(const struct sorting *s, size_t parts)
{
	uint32_t next = 0;
	for (uint32_t d = 0; d < 1u << s->bits; d++)
		for (size_t i = 0; i < parts; i++) {
			uint32_t count = s->parts[i].at[d];
			s->parts[i].at[d] = next;
			next += count;
		}
}

static void run_parts(struct sorting *s, struct pool *pool, size_t parts, pool_job *job)
{
	if (pool)
		pool_run(pool, parts, job, s);
	else
		job(s, 0, 0);
}

static uint64_t varying_bits(struct sorting *s, struct pool *pool, size_t parts)
{
	uint64_t varying = 0;
	run_parts(s, pool, parts, compare_part);
	for (size_t i = 0; i < parts; i++)
		varying |= s->parts[i].varying;
	return varying;
}

void radix_sort(struct radix *radix, struct pool *pool)
{
	size_t parts = pool && radix->count > SERIAL_ITEMS ? pool_workers(pool) : 1;
	if (radix->count <= INSERTED) {
		insert(radix->items, radix->count);
		return;
	}
	struct sorting s = { .from = radix->items, .bits = radix->count > FEW_ITEMS ? BITS : FEW_BITS };
	s.parts = memory_resize(NULL, parts, sizeof *s.parts);
	for (size_t i = 0; i < parts; i++) {
		s.parts[i].first = radix->count / parts * i;
		s.parts[i].end = i + 1 < parts ? radix->count / parts * (i + 1) : radix->count;
	}
	for (uint64_t left = varying_bits(&s, pool, parts); left; left &= left - 1) {
		s.shift = (unsigned)__builtin_ctzll(left);
		s.from = radix->items;
		s.to = radix->spare;
		run_parts(&s, pool, parts, count_part);
		place_parts(&s, parts);
		run_parts(&s, pool, parts, move_part);
		radix->spare = radix->items;
		radix->items = s.to;
		left &= ~(((1ull << s.bits) - 1) << s.shift) | 1ull << s.shift;
	}
	free(s.parts);
}

void radix_apply(const struct radix *radix, void **pointers)
{
	if (!radix->count)
		return;
	void **sorted = memory_resize(NULL, radix->count, sizeof *sorted);
	for (size_t i = 0; i < radix->count; i++)
		sorted[i] = pointers[radix->items[i].value];
	memcpy(pointers, sorted, radix->count * sizeof *sorted);
	free(sorted);
}
