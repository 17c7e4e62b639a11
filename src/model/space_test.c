#include "model/space.h"

#include <time.h>

#include "model/thread.h"
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

enum { MADE = 5, APART = 16, LONG = 8, EDGES = (MADE + 1) * APART + 3 };

/* Module + 1 of each page; 0: not mapped. */
struct edges {
	uint32_t pages[EDGES];
};

static void edges_put(struct edges *edges, uint64_t start, uint64_t end, uint32_t module)
{
	for (uint64_t p = start; p < end && p < EDGES; p++)
		edges->pages[p] = module + 1;
}

struct listed {
	const struct map_node *root;
	uint64_t from, wrong, pages;
};

/* Every page of a listed mapping is found in it, and those before it in none. */
static void check_listed(void *context, const struct map *map)
{
	struct listed *listed = context;
	listed->wrong += map->start < listed->from;
	for (uint64_t p = map->start; p < map->end; p++)
		listed->wrong += map_find(listed->root, p) != map;
	listed->pages += map->end - map->start;
	listed->from = map->end;
}

static uint64_t edges_wrong(const struct edges *edges, const struct map_node *root)
{
	struct listed listed = { .root = root };
	uint64_t pages = 0;
	for (uint64_t p = 0; p < EDGES; p++) {
		const struct map *map = map_find(root, p);
		listed.wrong += (map ? map->module + 1 : 0) != edges->pages[p] || (map && map_offset(map, p) != p + 1000);
		pages += edges->pages[p] != 0;
	}
	map_each(root, check_listed, &listed);
	return listed.wrong + (listed.pages != pages);
}

/* Offsets are addresses + 1000, so that those of any part are known. */
static void put(struct model *model, uint32_t space, uint64_t clock, uint64_t start, uint64_t end, uint32_t module, struct edges *edges)
{
	space_insert(model, space, clock, &(struct map){ .start = start, .end = end, .pgoff = start + 1000, .module = module });
	edges_put(edges, start, end, module);
}

/* Mappings made at once, as of clock 1: [16, 24), [32, 40) …, of which the third adjoins the fourth. */
static uint32_t make_at_once(struct model *model, struct edges *edges)
{
	static const uint32_t order[MADE] = { 2, 0, 4, 1, 3 };
	uint32_t space = space_new(model);
	*edges = (struct edges){ 0 };
	model_combine(model, true);
	for (uint32_t i = 0; i < MADE; i++)
		put(model, space, 1, (order[i] + 1) * APART - (order[i] == 3 ? LONG : 0), (order[i] + 1) * APART + LONG, order[i], edges);
	model_combine(model, false);
	return space;
}

TEST("mappings made at once are an array in order of address")
{
	struct model model;
	struct edges edges;
	model_init(&model);
	uint32_t space = make_at_once(&model, &edges);
	const struct map_array *array = map_array_of(model_space_root(&model, space, 1));
	EXPECT(array && array->count == MADE);
	for (uint32_t i = 0; array && i < array->count; i++)
		EXPECT(array->maps[i].module == i && array->starts[i] == array->maps[i].start);
	EXPECT_INT(edges_wrong(&edges, model_space_root(&model, space, 1)), 0);
	EXPECT(!model_space_root(&model, space, 0));
	model_fini(&model);
}

TEST("one more mapping, wherever it starts and ends, covers what is below it in mappings made at once")
{
	uint64_t wrong = 0;
	for (uint64_t start = 0; start + 1 < EDGES; start++)
		for (uint64_t end = start + 1; end < EDGES; end++) {
			struct model model;
			struct edges made, edges;
			model_init(&model);
			uint32_t space = make_at_once(&model, &made);
			edges = made;
			put(&model, space, 2, start, end, 100, &edges);
			wrong += edges_wrong(&edges, model_space_root(&model, space, 2));
			put(&model, space, 3, end - 1, end + 1, 101, &edges);
			wrong += edges_wrong(&edges, model_space_root(&model, space, 3));
			wrong += edges_wrong(&made, model_space_root(&model, space, 1));
			model_fini(&model);
		}
	EXPECT_INT(wrong, 0);
}

TEST("a fork shares mappings made at once until parent and child map others")
{
	uint64_t wrong = 0;
	for (unsigned round = 0; round < 200; round++) {
		struct model model;
		struct edges edges[2], before[2];
		model_init(&model);
		uint32_t parent = make_at_once(&model, &edges[0]), spaces[2] = { parent, space_new(&model) };
		for (uint64_t clock = 2; clock < 60; clock++) {
			if (clock == 2 + round % 16) {
				space_set_root(&model, spaces[1], clock, model_space_root(&model, parent, clock));
				edges[1] = edges[0];
			}
			unsigned which = clock > 2 + round % 16 ? random_next() % 2 : 0;
			uint64_t start = random_next() % (EDGES - 1), size = 1 + random_next() % (round % 2 ? 2 : 30);
			memcpy(before, edges, sizeof before);
			if (round % 3 || clock % 4)
				put(&model, spaces[which], clock, start, start + size < EDGES ? start + size : EDGES, (uint32_t)(clock + 100), &edges[which]);
			for (unsigned i = 0; i < (clock > 2 + round % 16 ? 2u : 1u); i++) {
				wrong += edges_wrong(&edges[i], model_space_root(&model, spaces[i], clock));
				wrong += clock != 2 + round % 16 && edges_wrong(&before[i], model_space_root(&model, spaces[i], clock - 1));
			}
		}
		model_fini(&model);
	}
	EXPECT_INT(wrong, 0);
}

/* combined: the later mappings are one edit. */
static void map_beside_array(bool combined)
{
	struct model model;
	struct edges edges, made;
	model_init(&model);
	uint32_t space = make_at_once(&model, &edges);
	made = edges;
	model_combine(&model, combined);
	for (uint32_t i = 0; i < LATER_MAX + 2; i++) {
		uint32_t page = i < 8 ? 7 - i : i < 16 ? i : 24 + i % 8; /* none is mapped */
		put(&model, space, 2 + i, page, page + 1, 100 + i, &edges);
		const struct map_node *root = model_space_root(&model, space, 2 + i);
		EXPECT_INT(root->map != NULL, i >= LATER_MAX);
		EXPECT(!map_array_of(root));
		EXPECT_INT(edges_wrong(&edges, root), 0);
		EXPECT_INT(edges_wrong(&made, model_space_root(&model, space, 1)), 0);
	}
	model_combine(&model, false);
	model_fini(&model);
}

TEST("a few mappings beside an array leave it an array, and more make a tree")
{
	map_beside_array(false);
	map_beside_array(true);
}

TEST("a mapping that is removed of those made at once is gone")
{
	struct model model;
	struct edges edges;
	model_init(&model);
	uint32_t space = make_at_once(&model, &edges);
	space_remove(&model, space, 50, APART + LONG);
	EXPECT_INT(edges_wrong(&edges, model_space_root(&model, space, 50)), 0);
	space_remove(&model, space, 50, APART + LONG - 1);
	memset(&edges.pages[APART], 0, LONG * sizeof *edges.pages);
	EXPECT_INT(edges_wrong(&edges, model_space_root(&model, space, 50)), 0);
	model_fini(&model);
}

TEST("an edit that empties a space and maps into it again has an array of the new mappings only")
{
	struct model model;
	struct edges old, edges = { 0 };
	model_init(&model);
	uint32_t space = make_at_once(&model, &old);
	model_combine(&model, true);
	space_set_root(&model, space, 2, NULL);
	for (uint32_t i = 0; i < MADE; i++)
		put(&model, space, 3, i * 3, i * 3 + 2, 50 + i, &edges);
	EXPECT_INT(edges_wrong(&edges, model_space_root(&model, space, 3)), 0); /* within the edit */
	put(&model, space, 4, 60, 61, 60, &edges);
	model_combine(&model, false);
	EXPECT_INT(edges_wrong(&edges, model_space_root(&model, space, 4)), 0);
	EXPECT_INT(edges_wrong(&old, model_space_root(&model, space, 1)), 0);
	model_fini(&model);
}

TEST("mappings of one edit that overlap, or go to two spaces in turns, give the same answers")
{
	uint64_t wrong = 0;
	for (unsigned round = 0; round < 300; round++) {
		struct model model;
		struct edges edges[2] = { 0 };
		model_init(&model);
		uint32_t spaces[2] = { space_new(&model), space_new(&model) };
		model_combine(&model, true);
		for (unsigned i = 0; i < 1 + round % 40; i++) {
			unsigned which = round % 2 ? i / (1 + round % 7) % 2 : 0;
			uint64_t start = random_next() % (EDGES - 1), size = 1 + random_next() % 3;
			put(&model, spaces[which], 1 + i, start, start + size < EDGES ? start + size : EDGES, i, &edges[which]);
		}
		model_combine(&model, false);
		for (unsigned i = 0; i < 2; i++)
			wrong += edges_wrong(&edges[i], model_space_root(&model, spaces[i], 100));
		model_fini(&model);
	}
	EXPECT_INT(wrong, 0);
}

TEST("a million mappings of one edit in random order, which overlap, do not take quadratic time")
{
	struct model model;
	model_init(&model);
	uint32_t space = space_new(&model);
	clock_t began = clock();
	model_combine(&model, true);
	for (uint32_t i = 0; i < 1000000; i++) {
		uint64_t start = random_next() % 10000000;
		space_insert(&model, space, 1 + i, &(struct map){ .start = start, .end = start + 1 + random_next() % 20, .module = i });
	}
	model_combine(&model, false);
	EXPECT((clock() - began) / CLOCKS_PER_SEC < 60); /* about a second */
	EXPECT(tree_depth(model_space_root(&model, space, 1000000)) < 90);
	model_fini(&model);
}

TEST("a renewal copies mappings made at once, and those beside them")
{
	struct model model;
	struct edges edges = { 0 };
	model_init(&model);
	struct module *module = modules_file(&model.modules, "/a", MODULE_FILE, NULL);
	uint32_t thread = thread_now(&model, 7, 7, 1), space = model_thread_of(&model, thread)->space;
	model_combine(&model, true);
	for (uint32_t i = 0; i < MADE; i++)
		put(&model, space, 1, i * 9, i * 9 + 4, module->id, &edges);
	model_combine(&model, false);
	put(&model, space, 2, 80, 82, module->id, &edges);
	for (uint64_t clock = 3; clock < 6; clock++) {
		model_renew(&model, clock, NULL, NULL, NULL);
		EXPECT_INT(module->generation, model.generation);
		const struct map_node *root = model_root(&model, 7, model_thread(&model, 7, clock), clock);
		EXPECT_INT(edges_wrong(&edges, root), 0);
		EXPECT(map_array_of(root) && map_array_of(root)->count == MADE + 1);
	}
	model_fini(&model);
}
