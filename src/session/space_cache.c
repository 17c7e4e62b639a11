#include "session/space_cache.h"

#include <stdlib.h>

enum {
	FIRST_LIMIT = 8,             /* searches before the first attempt … */
	LAST_LIMIT = 1 << 18,         /* … and none is made at this many */
	MAPS_PER_SEARCH = 8,          /* an array may have this many mappings for each search so far */
	CACHE_BYTES = 48 << 20,
};

void space_cache_fini(struct space_cache *cache)
{
	arena_fini(&cache->arena);
	idmap_fini(&cache->by_root);
	vec_fini(&cache->spaces);
}

bool space_cache_is_full(const struct space_cache *cache)
{
	return cache->arena.bytes + cache->by_root.capacity * sizeof *cache->by_root.slots > CACHE_BYTES;
}

void space_cache_clear(struct space_cache *cache)
{
	space_cache_fini(cache);
}

struct cached_space *space_cache_get(struct space_cache *cache, const struct map_node *root)
{
	bool added;
	uint32_t index = idmap_add(&cache->by_root, (uintptr_t)root, (uint32_t)cache->spaces.count, &added);
	if (added) {
		struct cached_space *space = arena_alloc(&cache->arena, sizeof *space);
		space->root = root;
		space->limit = FIRST_LIMIT;
		const struct map_array *array = map_array_of(root);
		if (array) {
			space->count = array->count;
			space->starts = array->starts;
			space->made = array->maps;
		}
		vec_push(&cache->spaces, space);
	}
	return cache->spaces.items[index];
}

static void make_array(struct space_cache *cache, struct cached_space *space)
{
	size_t most = (size_t)space->limit * MAPS_PER_SEARCH, count = 0;
	const struct map **maps = memory_resize(NULL, most, sizeof *maps);
	if (map_list(space->root, maps, &count, most)) {
		uint64_t *starts = arena_words(&cache->arena, count * (1 + sizeof(struct cached_map) / sizeof *starts));
		struct cached_map *cached = (struct cached_map *)(starts + count);
		for (size_t i = 0; i < count; i++) {
			starts[i] = maps[i]->start;
			cached[i] = (struct cached_map){ .end = maps[i]->end, .shift = map_offset(maps[i], 0), .map = maps[i],
				.module = maps[i]->module };
		}
		space->starts = starts;
		space->maps = cached;
		space->count = (uint32_t)count;
	}
	space->limit *= 4;
	free(maps);
}

void space_cache_expect(struct space_cache *cache, struct cached_space *space, uint64_t searches)
{
	space->searches += searches < LAST_LIMIT ? (uint32_t)searches : LAST_LIMIT;
	if (space->searches >= space->limit && space->limit < LAST_LIMIT)
		make_array(cache, space);
}

const struct map *space_cache_find(struct space_cache *cache, struct cached_space *space, uint64_t address)
{
	if (++space->searches >= space->limit && space->limit < LAST_LIMIT)
		make_array(cache, space);
	return map_find(space->root, address);
}
