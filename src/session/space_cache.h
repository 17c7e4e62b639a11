/* Address spaces of a worker as sorted arrays: a search in an array reads few cache lines, and those can be prefetched, whereas a search in
 * the model's tree reads one or two for each step. An array is made when an address space was searched often, so that making it costs less
 * than the searches; where the model itself has one, it is used. Knows no model but roots (map_list, map_array_of). Internal to
 * session/. */
#pragma once
#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "model/model.h"

/* One address space, valid until space_cache_clear. */
struct cached_space {
	const struct map_node *root;
	uint32_t searches;            /* so far */
	uint32_t limit;               /* of searches, at which the next attempt to make the array is due */
	uint32_t count;               /* of the array; 0: no array yet */
	const uint64_t *starts;       /* by address, rising */
	const struct cached_map *maps; /* the same; NULL: the model has them as an array, which is … */
	const struct map *made;
};

/* What a location needs of a mapping, without reading the mapping. */
struct cached_map {
	uint64_t end;
	uint64_t shift;               /* offset in the module minus address */
	const struct map *map;
	uint32_t module;
};

struct space_cache {
	struct arena arena;
	struct idmap by_root;         /* low bits of the address of a root → index in spaces */
	VEC(struct cached_space *) spaces;
};

void space_cache_fini(struct space_cache *cache); /* accepts a zeroed cache */
/* Whether the cache has reached its size and is due to be cleared. */
bool space_cache_is_full(const struct space_cache *cache);
void space_cache_clear(struct space_cache *cache);
/* The space with this root, which is not NULL. */
struct cached_space *space_cache_get(struct space_cache *cache, const struct map_node *root);
/* So many searches in a space without an array follow: the array is made now if it is worth that. */
void space_cache_expect(struct space_cache *cache, struct cached_space *space, uint64_t searches);
/* The same as map_find in the root; may make the array. */
const struct map *space_cache_find(struct space_cache *cache, struct cached_space *space, uint64_t address);

/* The index of the last mapping of an array, which is not empty, that starts at or below the address, or of the first. There is no branch
 * that a processor could predict wrongly. */
static inline uint32_t cached_space_last(const struct cached_space *space, uint64_t address)
{
	const uint64_t *base = space->starts;
	for (size_t left = space->count; left > 1;) {
		size_t half = left / 2;
		base = base[half] <= address ? base + half : base;
		left -= half;
	}
	return (uint32_t)(base - space->starts);
}

static inline void cached_space_prefetch_map(const struct cached_space *space, uint32_t index)
{
	__builtin_prefetch(space->maps ? (const void *)&space->maps[index] : &space->made[index]);
}

/* The mapping with this index, if the address is in it, as a cached_map; false: the address is not mapped. */
static inline bool cached_space_map(const struct cached_space *space, uint32_t index, uint64_t address, struct cached_map *found)
{
	if (address < space->starts[index])
		return false;
	if (space->maps) {
		*found = space->maps[index];
		return address < found->end;
	}
	const struct map *map = &space->made[index];
	*found = (struct cached_map){ .end = map->end, .shift = map_offset(map, 0), .map = map, .module = map->module };
	return address < map->end;
}

/* The mapping at an address in an array, which is not empty; false: the address is not mapped. */
static inline bool cached_space_find(const struct cached_space *space, uint64_t address, struct cached_map *found)
{
	return cached_space_map(space, cached_space_last(space, address), address, found);
}

static inline void cached_space_prefetch(const struct cached_space *space)
{
	enum { LINE = 8, LINES = 8 };
	if (space->count)
		(void)*(const volatile uint64_t *)space->starts; /* a prefetch does not wait for the translation of an address */
	for (uint32_t i = 0; i < LINES && i * LINE < space->count; i++)
		__builtin_prefetch(space->starts + i * LINE);
}
