#include "session/points.h"

#include <stdlib.h>

enum { CACHE_LINE = 64, FIRST_SLOTS = 1024 };

void points_fini(struct points *points)
{
	for (size_t i = 0; i < points->memory.count; i++)
		free(points->memory.items[i]);
	vec_fini(&points->memory);
	vec_fini(&points->slabs);
	free(points->slots);
	*points = (struct points){ 0 };
}

size_t points_bytes(const struct points *points)
{
	return points->slabs.count * POINT_SLAB * sizeof(struct point) + points->slot_count * sizeof *points->slots;
}

static uint64_t entry_of(uint64_t hash, uint32_t id)
{
	return (hash & ~(uint64_t)UINT32_MAX) | (id + 1);
}

static void grow(struct points *points)
{
	size_t old_count = points->slot_count;
	uint64_t *old = points->slots;
	points->slot_count = old_count ? old_count * 2 : FIRST_SLOTS;
	points->slots = memory_table(points->slot_count, sizeof *points->slots);
	for (size_t i = 0; i < old_count; i++) {
		if (!old[i])
			continue;
		const struct point *point = points_get(points, (uint32_t)old[i] - 1);
		size_t at = point_hash(points, point->module, point->offset, point->cpumode) & (points->slot_count - 1);
		while (points->slots[at])
			at = (at + 1) & (points->slot_count - 1);
		points->slots[at] = old[i];
	}
	free(old);
}

static struct point *point_new(struct points *points)
{
	_Static_assert(sizeof(struct point) == CACHE_LINE, "a point fills a cache line");
	if (points->count % POINT_SLAB == 0) {
		char *memory = memory_zero(POINT_SLAB + 1, CACHE_LINE);
		vec_push(&points->memory, memory);
		vec_push(&points->slabs, (struct point *)(((uintptr_t)memory + CACHE_LINE - 1) & ~(uintptr_t)(CACHE_LINE - 1)));
	}
	return points_get(points, points->count++);
}

struct point *points_intern(struct points *points, uint64_t hash, uint32_t module, uint64_t offset, unsigned cpumode)
{
	if ((size_t)points->count * 2 >= points->slot_count)
		grow(points);
	size_t mask = points->slot_count - 1, at = hash & mask;
	for (uint64_t slot; (slot = points->slots[at]); at = (at + 1) & mask) {
		if ((slot ^ hash) >> 32)
			continue;
		struct point *known = points_get(points, (uint32_t)slot - 1);
		if (known->offset == offset && known->module == module && known->cpumode == cpumode)
			return known;
	}
	uint32_t id = points->count;
	struct point *point = point_new(points);
	point->id = id;
	point->module = module;
	point->offset = offset;
	point->cpumode = (uint8_t)cpumode;
	points->slots[at] = entry_of(hash, id);
	return point;
}
