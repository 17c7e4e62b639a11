/* Interned points (session/resolved.h) of one worker. An entry of the table has 8 bytes, so that it stays in the caches: a part of the hash
 * and the point's id; the rest of the key is in the point itself, which the caller reads anyway. Internal to session/. */
#pragma once
#include "base/hash.h"
#include "base/vec.h"
#include "session/resolved.h"

enum { POINT_SLAB = 256 };         /* points allocated at once */

struct points {
	VEC(struct point *) slabs;     /* by id / POINT_SLAB; each point fills a cache line */
	VEC(void *) memory;            /* the same slabs as allocated */
	uint64_t *slots;               /* open addressing: high half of the hash, id + 1; 0: free */
	size_t slot_count;             /* a power of two, or 0 */
	uint32_t count;
};

void points_fini(struct points *points); /* accepts zeroed points; leaves them usable */
/* Bytes of all points. */
size_t points_bytes(const struct points *points);
/* The point with this module, offset and mode, whose hash is given; made if it does not exist. */
struct point *points_intern(struct points *points, uint64_t hash, uint32_t module, uint64_t offset, unsigned cpumode);

/* It depends on the address of `points`, too (base/hash.h). */
static inline uint64_t point_hash(const struct points *points, uint32_t module, uint64_t offset, unsigned cpumode)
{
	return hash_u64((offset + ((uint64_t)module << 8 | cpumode) * 0x9e3779b97f4a7c15u) ^ (uintptr_t)points);
}

static inline struct point *points_get(const struct points *points, uint32_t id)
{
	return &points->slabs.items[id / POINT_SLAB][id % POINT_SLAB];
}

/* Precondition for the following: the table has slots. */
static inline void points_prefetch_slot(const struct points *points, uint64_t hash)
{
	__builtin_prefetch(&points->slots[hash & (points->slot_count - 1)]);
}

/* The same as points_intern, without a call where the point exists and the first entry is its. */
static inline struct point *points_find(struct points *points, uint64_t hash, uint32_t module, uint64_t offset, unsigned cpumode)
{
	uint64_t slot = points->slots[hash & (points->slot_count - 1)];
	if (__builtin_expect(slot && !((slot ^ hash) >> 32), 1)) {
		struct point *point = points_get(points, (uint32_t)slot - 1);
		if (__builtin_expect(point->offset == offset && point->module == module && point->cpumode == cpumode, 1))
			return point;
	}
	return points_intern(points, hash, module, offset, cpumode);
}

/* Prefetches the point that probably has this hash. */
static inline void points_prefetch(const struct points *points, uint64_t hash)
{
	uint32_t id = (uint32_t)points->slots[hash & (points->slot_count - 1)];
	if (id)
		__builtin_prefetch(points_get(points, id - 1));
}
