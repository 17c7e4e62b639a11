#include "session/space_cache.h"

#include "model/space.h"
#include "unit.h"

enum { MAPS = 100, SIZE = 0x1000, GAP = 0x3000 };

/* Mapping i is at (i + 1) * GAP; its module is i. */
static const struct map_node *fill(struct model *model, uint32_t maps, bool at_once)
{
	uint32_t space = space_new(model);
	model_combine(model, at_once);
	for (uint32_t i = 0; i < maps; i++) {
		uint64_t start = (uint64_t)(i * 37 % maps + 1) * GAP;
		space_insert(model, space, 1, &(struct map){ .start = start, .end = start + SIZE, .pgoff = 0x500, .module = i * 37 % maps });
	}
	model_combine(model, false);
	return model_space_root(model, space, 1);
}

static bool same(const struct cached_space *space, uint64_t address)
{
	const struct map *map = map_find(space->root, address);
	struct cached_map cached;
	bool found = cached_space_find(space, address, &cached);
	if (!map || !found)
		return !map && !found;
	return cached.map == map && cached.module == map->module && address + cached.shift == map_offset(map, address);
}

/* At every border of so many mappings. */
static void expect_same(const struct cached_space *space, uint32_t maps)
{
	EXPECT(same(space, 0) && same(space, UINT64_MAX));
	for (uint32_t i = 1; i <= maps; i++)
		for (int64_t off = -1; off <= 1; off++)
			EXPECT(same(space, (uint64_t)i * GAP + (uint64_t)off) && same(space, (uint64_t)i * GAP + SIZE + (uint64_t)off));
}

static void search(struct space_cache *cache, struct cached_space *space, unsigned times)
{
	while (times--)
		space_cache_find(cache, space, GAP);
}

TEST("an array finds what the tree finds, at every border")
{
	struct model model;
	struct space_cache cache = { 0 };
	model_init(&model);
	for (uint32_t maps = 1; maps <= MAPS; maps = maps < 8 ? maps + 1 : maps + 23) {
		struct cached_space *space = space_cache_get(&cache, fill(&model, maps, false));
		search(&cache, space, 64);
		EXPECT_INT(space->count, maps);
		expect_same(space, maps);
	}
	space_cache_fini(&cache);
	model_fini(&model);
}

TEST("mappings that the model has as an array are searched there, without any search before")
{
	struct model model;
	struct space_cache cache = { 0 };
	model_init(&model);
	for (uint32_t maps = 4; maps <= MAPS; maps += 9) {
		struct cached_space *space = space_cache_get(&cache, fill(&model, maps, true));
		EXPECT_INT(space->count, maps);
		EXPECT(space->made && !space->maps);
		expect_same(space, maps);
	}
	space_cache_fini(&cache);
	model_fini(&model);
}

TEST("searches that are announced count as searches, and make the array before the first of them")
{
	struct model model;
	struct space_cache cache = { 0 };
	model_init(&model);
	struct cached_space *few = space_cache_get(&cache, fill(&model, 40, false)), *many = space_cache_get(&cache, fill(&model, MAPS, false));
	space_cache_expect(&cache, few, 7);
	EXPECT_INT(few->count, 0);
	space_cache_expect(&cache, few, 1);
	EXPECT_INT(few->count, 40);
	EXPECT(same(few, 40 * GAP));
	space_cache_expect(&cache, many, 8);
	EXPECT_INT(many->count, 0);
	space_cache_expect(&cache, many, UINT64_MAX);
	EXPECT_INT(many->count, MAPS);
	space_cache_fini(&cache);
	model_fini(&model);
}

TEST("an array is made when the searches are worth it")
{
	struct model model;
	struct space_cache cache = { 0 };
	model_init(&model);
	struct cached_space *space = space_cache_get(&cache, fill(&model, MAPS, false));
	EXPECT(space_cache_get(&cache, space->root) == space);
	search(&cache, space, 8); /* an array of 64 mappings would be paid for */
	EXPECT_INT(space->count, 0);
	search(&cache, space, 23);
	EXPECT_INT(space->count, 0);
	search(&cache, space, 1);
	EXPECT_INT(space->count, MAPS);
	EXPECT(!space_cache_is_full(&cache));
	space_cache_clear(&cache);
	EXPECT(space_cache_get(&cache, fill(&model, 1, false))->count == 0);
	space_cache_fini(&cache);
	model_fini(&model);
}
