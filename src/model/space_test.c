#include "model/space.h"

#include "unit.h"

enum { PAGES = 200, VERSIONS = 300 };

static uint64_t random_state = 42;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Looks up every page as of every clock that a run of combined changes ends at; runs of `combined` changes, each of up to `pages`
 * pages. */
static void compare_with_pages(unsigned combined, unsigned pages)
{
	static uint32_t truth[VERSIONS][PAGES]; /* module + 1 of each page; 0: not mapped */
	static uint64_t offsets[VERSIONS][PAGES];
	struct model model;
	model_init(&model);
	uint32_t space = space_new(&model);
	for (unsigned v = 1; v < VERSIONS; v++) {
		memcpy(truth[v], truth[v - 1], sizeof truth[v]);
		memcpy(offsets[v], offsets[v - 1], sizeof offsets[v]);
		uint64_t start = random_next() % PAGES, end = start + 1 + random_next() % pages;
		end = end > PAGES ? PAGES : end;
		struct map map = { .start = start, .end = end, .pgoff = v * 1000, .module = v };
		model_combine(&model, v % combined);
		space_insert(&model, space, v, &map);
		for (uint64_t p = start; p < end; p++) {
			truth[v][p] = v + 1;
			offsets[v][p] = v * 1000 + (p - start);
		}
	}
	unsigned wrong = 0;
	for (unsigned v = combined - 1; v < VERSIONS; v += combined)
		for (uint64_t p = 0; p < PAGES; p++) {
			const struct map *map = map_find(model_space_root(&model, space, v), p);
			if (map ? truth[v][p] != map->module + 1 || map_offset(map, p) != offsets[v][p] : truth[v][p] != 0)
				wrong++;
		}
	EXPECT_INT(wrong, 0);
	model_fini(&model);
}

TEST("an address space gives the same answers for any clock as an array of pages")
{
	compare_with_pages(1, 40);
}

TEST("an address space gives the same answers where most mappings cover no other")
{
	compare_with_pages(1, 1);
	compare_with_pages(3, 2);
}

TEST("combined changes give the same answers as of the clocks that end them")
{
	compare_with_pages(3, 40);
}

TEST("combined changes of ten thousand mappings have one version, and supersede no node")
{
	struct model model;
	model_init(&model);
	uint32_t space = space_new(&model);
	model_combine(&model, true);
	for (uint64_t i = 0; i < 10000; i++)
		space_insert(&model, space, i + 1, &(struct map){ .start = i * 2, .end = i * 2 + 1 });
	EXPECT_INT(model.spaces.items[space]->versions.count, 1);
	EXPECT_INT(model.superseded, 0);
	model_fini(&model);
}

static unsigned tree_depth(const struct map_node *root)
{
	if (!root)
		return 0;
	unsigned left = tree_depth(root->left), right = tree_depth(root->right);
	return 1 + (left > right ? left : right);
}

TEST("inserting ten thousand mappings in ascending order gives a shallow tree")
{
	struct model model;
	model_init(&model);
	uint32_t space = space_new(&model);
	for (uint64_t i = 0; i < 10000; i++) {
		struct map map = { .start = i * 16, .end = i * 16 + 8, .module = (uint32_t)i };
		space_insert(&model, space, i, &map);
	}
	EXPECT(tree_depth(model_space_root(&model, space, 10000)) < 60);
	model_fini(&model);
}

TEST("removing a mapping leaves its neighbours and earlier versions unchanged")
{
	struct model model;
	model_init(&model);
	uint32_t space = space_new(&model);
	for (uint64_t i = 0; i < 3; i++) {
		struct map map = { .start = i * 16, .end = i * 16 + 16, .module = (uint32_t)i };
		space_insert(&model, space, 1, &map);
	}
	space_remove(&model, space, 2, 20);
	EXPECT(!map_find(model_space_root(&model, space, 2), 20));
	EXPECT(map_find(model_space_root(&model, space, 1), 20));
	EXPECT(map_find(model_space_root(&model, space, 2), 15) && map_find(model_space_root(&model, space, 2), 32));
	model_fini(&model);
}
