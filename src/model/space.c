#include "model/space.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"

static uint32_t next_priority(struct model *model)
{
	model->random += 0x9e3779b97f4a7c15u;
	return (uint32_t)(hash_u64(model->random) >> 32);
}

static struct map_node *map_node_copy(struct model *model, const struct map_node *node)
{
	if (model->edit && node->edit == model->edit)
		return (struct map_node *)node;
	struct map_node *copy = arena_copy(&model->arena, node, sizeof *node);
	copy->edit = model->edit;
	model->superseded += sizeof *copy;
	return copy;
}

/* A mapping and its node: what reads one reads the other. */
struct mapped {
	struct map_node node;
	struct map map;
};

/* A tree of one mapping, which is copied. */
static struct map_node *tree_of_map(struct model *model, const struct map *map)
{
	const struct mapped fresh = { .map = *map, .node = { .start = map->start, .end = map->end, .priority = next_priority(model),
		.edit = model->edit } };
	struct mapped *mapped = arena_copy(&model->arena, &fresh, sizeof fresh);
	mapped->node.map = &mapped->map;
	return &mapped->node;
}

static const struct made_space *made_space_of(const struct map_node *root)
{
	return root && !root->map ? (const struct made_space *)root : NULL;
}

/* Returns an array of the mappings, which are at least one, by address; without their contents. */
static struct made_maps *made_maps_new(struct model *model, size_t count, uint64_t **starts, struct map **maps)
{
	struct made_maps *made = arena_alloc(&model->arena, sizeof *made);
	*starts = arena_words(&model->arena, count);
	*maps = (struct map *)arena_words(&model->arena, count * (sizeof **maps / sizeof **starts));
	*made = (struct made_maps){ .array = { .count = (uint32_t)count, .starts = *starts, .maps = *maps } };
	return made;
}

/* room: for so many later mappings. */
static struct made_space *made_space_new(struct model *model, struct made_maps *made, uint32_t room)
{
	struct made_space *space = arena_alloc(&model->arena, sizeof *space + room * sizeof *space->later);
	space->node = (struct map_node){ 0 };
	space->made = made;
	space->count = 0;
	return space;
}

/* Number of mappings of the array that start at or below the address. */
static size_t array_count_to(const struct map_array *array, uint64_t address)
{
	return SEARCH_COUNT(array->count, i, array->starts[i] <= address);
}

static const struct map *made_space_find(const struct made_space *space, uint64_t address)
{
	const struct map_array *array = &space->made->array;
	size_t end = array_count_to(array, address);
	if (end && address < array->maps[end - 1].end)
		return &array->maps[end - 1];
	for (size_t i = space->count; i-- > 0;)
		if (space->later[i]->start <= address)
			return address < space->later[i]->end ? space->later[i] : NULL;
	return NULL;
}

/* Visits the mappings in order of address until one is refused. */
static bool made_space_each(const struct made_space *space, bool (*visit)(void *context, const struct map *map), void *context)
{
	const struct map_array *array = &space->made->array;
	for (size_t i = 0, later = 0; i < array->count || later < space->count;) {
		bool first = i < array->count && (later == space->count || array->starts[i] < space->later[later]->start);
		if (!visit(context, first ? &array->maps[i++] : space->later[later++]))
			return false;
	}
	return true;
}

/* The array as a tree: nodes in order of address, each below the nearest of a higher priority. */
static const struct map_node *made_maps_tree(struct model *model, struct made_maps *made)
{
	if (made->tree)
		return made->tree;
	struct map_node **above = memory_resize(NULL, made->array.count, sizeof *above);
	size_t depth = 0;
	for (size_t i = 0; i < made->array.count; i++) {
		const struct map *map = &made->array.maps[i];
		struct map_node *node = arena_alloc(&model->arena, sizeof *node), *below = NULL;
		*node = (struct map_node){ .start = map->start, .end = map->end, .map = map, .priority = next_priority(model) };
		while (depth && above[depth - 1]->priority < node->priority)
			below = above[--depth];
		node->left = below;
		if (depth)
			above[depth - 1]->right = node;
		above[depth++] = node;
	}
	made->tree = above[0];
	free(above);
	return made->tree;
}

/* Splits a tree: mappings that start below `at` to *low, the others to *high. */
static void tree_split(struct model *model, const struct map_node *root, uint64_t at, const struct map_node **low,
		  const struct map_node **high)
{
	if (!root) {
		*low = *high = NULL;
		return;
	}
	struct map_node *copy = map_node_copy(model, root);
	if (root->start < at) {
		tree_split(model, root->right, at, &copy->right, high);
		*low = copy;
	} else {
		tree_split(model, root->left, at, low, &copy->left);
		*high = copy;
	}
}

/* Joins two trees. Precondition: all addresses of low are below those of high. */
static const struct map_node *tree_join(struct model *model, const struct map_node *low, const struct map_node *high)
{
	if (!low || !high)
		return low ? low : high;
	struct map_node *top;
	if (low->priority > high->priority) {
		top = map_node_copy(model, low);
		top->right = tree_join(model, low->right, high);
	} else {
		top = map_node_copy(model, high);
		top->left = tree_join(model, low, high->left);
	}
	return top;
}

static const struct map_node *tree_rightmost(const struct map_node *root)
{
	while (root && root->right)
		root = root->right;
	return root;
}

/* Returns the tree without its rightmost mapping. */
static const struct map_node *tree_without_rightmost(struct model *model, const struct map_node *root)
{
	if (!root->right)
		return root->left;
	struct map_node *copy = map_node_copy(model, root);
	copy->right = tree_without_rightmost(model, root->right);
	return copy;
}

/* Returns a tree with the part of `map` in [start, end). */
static const struct map_node *tree_of_part(struct model *model, const struct map *map, uint64_t start, uint64_t end)
{
	struct map part = *map;
	part.pgoff += start - map->start;
	part.start = start;
	part.end = end;
	return tree_of_map(model, &part);
}

/* Whether the mapping covers a part of one in the tree. */
static bool tree_overlaps(const struct map_node *root, const struct map *map)
{
	while (root) {
		if (root->start >= map->end)
			root = root->left;
		else if (root->start < map->start && root->end <= map->start)
			root = root->right;
		else
			return true;
	}
	return false;
}

/* Returns the tree with a node that overlaps none of its mappings. */
static const struct map_node *tree_add(struct model *model, const struct map_node *root, struct map_node *node)
{
	const struct map_node **at = &root;
	while (*at && (*at)->priority > node->priority) {
		struct map_node *copy = map_node_copy(model, *at);
		*at = copy;
		at = copy->start < node->start ? &copy->right : &copy->left;
	}
	tree_split(model, *at, node->start, &node->left, &node->right);
	*at = node;
	return root;
}

uint32_t space_new(struct model *model)
{
	struct space *space = memory_zero(1, sizeof *space);
	vec_push(&model->spaces, space);
	return (uint32_t)model->spaces.count - 1;
}

/* The root of an address space as a tree. */
static const struct map_node *tree_of_root(struct model *model, const struct map_node *root)
{
	const struct made_space *space = made_space_of(root);
	if (!space)
		return root;
	const struct map_node *tree = made_maps_tree(model, space->made);
	for (size_t i = 0; i < space->count; i++) {
		struct map_node *node = arena_alloc(&model->arena, sizeof *node);
		*node = (struct map_node){ .start = space->later[i]->start, .end = space->later[i]->end, .map = space->later[i],
			.priority = next_priority(model), .edit = model->edit };
		tree = tree_add(model, tree, node);
	}
	return tree;
}

const struct map_node *space_root(const struct model *model, uint32_t id, uint64_t clock)
{
	if (model->made.maps.count && model->made.space == id)
		space_settle((struct model *)model); /* only the owner of the model calls this during an edit, so no other thread reads it */
	const struct space *space = model->spaces.items[id];
	size_t count = space->versions.count;
	if (count && space->versions.items[count - 1].clock <= clock)
		return space->versions.items[count - 1].root;
	size_t end = SEARCH_COUNT(count, i, space->versions.items[i].clock <= clock);
	return end ? space->versions.items[end - 1].root : NULL;
}

void space_set_root(struct model *model, uint32_t id, uint64_t clock, const struct map_node *root)
{
	struct space *space = model->spaces.items[id];
	size_t count = space->versions.count;
	bool combined = model->edit && space->edit == model->edit;
	if (count && (combined || space->versions.items[count - 1].clock == clock))
		space->versions.items[count - 1].root = root;
	else
		vec_push(&space->versions, ((struct space_version){ .clock = clock, .root = root }));
	space->edit = model->edit;
}

/* Returns the tree with the mapping; what it covers is cut from older ones. */
static const struct map_node *tree_cover(struct model *model, const struct map_node *root, const struct map *map)
{
	const struct map_node *low, *rest, *covered, *high, *tail = NULL;
	tree_split(model, root, map->start, &low, &rest);
	tree_split(model, rest, map->end, &covered, &high);
	const struct map_node *before = tree_rightmost(low), *last = tree_rightmost(covered);
	if (before && before->end > map->start) {
		const struct map *old = before->map;
		low = tree_join(model, tree_without_rightmost(model, low), tree_of_part(model, old, old->start, map->start));
		if (old->end > map->end)
			tail = tree_of_part(model, old, map->end, old->end);
	}
	if (last && last->end > map->end)
		tail = tree_of_part(model, last->map, map->end, last->end);
	low = tree_join(model, low, tree_of_map(model, map));
	return tree_join(model, tree_join(model, low, tail), high);
}

static const struct map_node *tree_insert(struct model *model, const struct map_node *root, const struct map *map)
{
	if (tree_overlaps(root, map))
		return tree_cover(model, root, map);
	return tree_add(model, root, tree_of_map(model, map));
}

/* Whether the mapping covers an address of the array or of a later mapping, or is empty. */
static bool made_space_overlaps(const struct made_space *space, const struct map *map)
{
	const struct map_array *array = &space->made->array;
	size_t end = array_count_to(array, map->end - 1);
	if (map->end <= map->start || (end && array->maps[end - 1].end > map->start))
		return true;
	for (size_t i = 0; i < space->count; i++)
		if (space->later[i]->start < map->end && space->later[i]->end > map->start)
			return true;
	return false;
}

/* Returns the root with a mapping, which overlaps none, beside the array. */
static const struct map_node *made_space_add(struct model *model, const struct made_space *old, const struct map *map)
{
	struct made_space *space = (struct made_space *)old;
	if (!model->edit || old->node.edit != model->edit) {
		space = made_space_new(model, old->made, model->edit ? LATER_MAX : old->count + 1);
		space->node.edit = model->edit;
		memcpy(space->later, old->later, old->count * sizeof *old->later);
		model->superseded += sizeof *old + old->count * sizeof *old->later;
	}
	uint32_t at = space->count = old->count + 1;
	for (; --at && space->later[at - 1]->start > map->start;)
		space->later[at] = space->later[at - 1];
	space->later[at] = arena_copy(&model->arena, map, sizeof *map);
	return &space->node;
}

static int maps_compare_start(const void *a, const void *b)
{
	const struct map *x = a, *y = b;
	return (x->start > y->start) - (x->start < y->start);
}

static int maps_compare_serial(const void *a, const void *b)
{
	const struct map *x = a, *y = b;
	return (x->serial > y->serial) - (x->serial < y->serial);
}

/* Whether no two mappings, which are by address, share an address or a start, and none is empty. */
static bool maps_are_apart(const struct map *maps, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (maps[i].end <= maps[i].start || (i && maps[i].start < maps[i - 1].end))
			return false;
	return true;
}

static const struct map_node *made_space_of_maps(struct model *model, const struct map *maps, size_t count)
{
	uint64_t *starts;
	struct map *copies;
	struct made_maps *made = made_maps_new(model, count, &starts, &copies);
	for (size_t i = 0; i < count; i++) {
		starts[i] = maps[i].start;
		copies[i] = maps[i];
	}
	return &made_space_new(model, made, 0)->node;
}

void space_settle(struct model *model)
{
	size_t count = model->made.maps.count;
	struct map *maps = model->made.maps.items;
	if (!count)
		return;
	const struct map_node *root = NULL;
	model->made.maps.count = 0;
	if (!maps_are_apart(maps, count))
		qsort(maps, count, sizeof *maps, maps_compare_start);
	if (count >= MADE_MIN && count < MADE_MAX && maps_are_apart(maps, count)) {
		root = made_space_of_maps(model, maps, count);
	} else {
		qsort(maps, count, sizeof *maps, maps_compare_serial);
		for (size_t i = 0; i < count; i++)
			root = tree_insert(model, root, &maps[i]);
	}
	space_set_root(model, model->made.space, model->made.clock, root);
}

/* Collects a mapping, if an edit is mapping into an empty space. */
static bool made_collects(struct model *model, uint32_t id, uint64_t clock, const struct map *map)
{
	if (!model->edit)
		return false;
	if (model->made.maps.count && (model->made.space != id || model->made.maps.count == MADE_MAX))
		space_settle(model);
	if (!model->made.maps.count) {
		if (space_root(model, id, clock))
			return false;
		model->made.space = id;
		model->made.clock = clock;
	}
	vec_push(&model->made.maps, *map);
	return true;
}

void space_insert(struct model *model, uint32_t id, uint64_t clock, const struct map *map)
{
	struct map fresh = *map;
	fresh.serial = ++model->mappings;
	if (made_collects(model, id, clock, &fresh))
		return;
	const struct map_node *root = space_root(model, id, clock);
	const struct made_space *made = made_space_of(root);
	if (made && made->count < LATER_MAX && !made_space_overlaps(made, &fresh))
		root = made_space_add(model, made, &fresh);
	else
		root = tree_insert(model, tree_of_root(model, root), &fresh);
	space_set_root(model, id, clock, root);
}

static bool collect_map(void *context, const struct map *map)
{
	VEC(struct map) *maps = context;
	vec_push(maps, *map);
	return true;
}

const struct map_node *space_copy_made(struct model *model, const struct map_node *root)
{
	VEC(struct map) maps = { 0 };
	made_space_each(made_space_of(root), collect_map, &maps);
	const struct map_node *copy = made_space_of_maps(model, maps.items, maps.count);
	vec_fini(&maps);
	return copy;
}

struct stays {
	struct model *model;
	uint64_t start, end;
	VEC(const struct map *) maps;
};

/* Collects the JIT code that overlaps [start, end), in order of address. */
static void collect_jit(struct stays *stays, const struct map_node *root)
{
	for (; root; root = root->right) {
		if (root->end <= stays->start)
			continue;
		collect_jit(stays, root->left);
		if (root->start >= stays->end)
			return;
		if (modules_get(&stays->model->modules, root->map->module)->kind == MODULE_JIT)
			vec_push(&stays->maps, root->map);
	}
}

void space_insert_below_jit(struct model *model, uint32_t id, uint64_t clock, const struct map *map)
{
	struct stays stays = { .model = model, .start = map->start, .end = map->end };
	if (model->jit_budget)
		collect_jit(&stays, tree_of_root(model, space_root(model, id, clock)));
	bool combined = model->edit;
	model_combine(model, true);
	space_insert(model, id, clock, map);
	model->jit_budget -= stays.maps.count < model->jit_budget ? stays.maps.count : model->jit_budget;
	for (size_t i = 0; i < stays.maps.count; i++)
		space_insert(model, id, clock, stays.maps.items[i]);
	model_combine(model, combined);
	vec_fini(&stays.maps);
}

void space_remove(struct model *model, uint32_t id, uint64_t clock, uint64_t address)
{
	const struct map_node *root = space_root(model, id, clock), *low, *rest, *gone, *high;
	const struct map *map = map_find(root, address);
	if (!map)
		return;
	root = tree_of_root(model, root);
	tree_split(model, root, map->start, &low, &rest);
	tree_split(model, rest, map->end, &gone, &high);
	space_set_root(model, id, clock, tree_join(model, low, high));
}

const struct map_array *map_array_of(const struct map_node *root)
{
	const struct made_space *space = made_space_of(root);
	return space && !space->count ? &space->made->array : NULL;
}

const struct map *map_find(const struct map_node *root, uint64_t address)
{
	const struct made_space *made = made_space_of(root);
	if (made)
		return made_space_find(made, address);
	while (root) {
		if (address < root->start)
			root = root->left;
		else if (address >= root->end)
			root = root->right;
		else
			return root->map;
	}
	return NULL;
}

struct map_listing {
	const struct map **maps;
	size_t *count, most;
};

static bool list_map(void *context, const struct map *map)
{
	const struct map_listing *listing = context;
	if (*listing->count == listing->most)
		return false;
	listing->maps[(*listing->count)++] = map;
	return true;
}

bool map_list(const struct map_node *root, const struct map **maps, size_t *count, size_t most)
{
	if (made_space_of(root))
		return made_space_each(made_space_of(root), list_map, &(struct map_listing){ maps, count, most });
	for (; root; root = root->right) {
		if (!map_list(root->left, maps, count, most) || *count == most)
			return false;
		maps[(*count)++] = root->map;
	}
	return true;
}

struct map_visit {
	void (*visit)(void *context, const struct map *map);
	void *context;
};

static bool visit_map(void *context, const struct map *map)
{
	const struct map_visit *visit = context;
	visit->visit(visit->context, map);
	return true;
}

void map_each(const struct map_node *root, void (*visit)(void *context, const struct map *map), void *context)
{
	if (made_space_of(root)) {
		made_space_each(made_space_of(root), visit_map, &(struct map_visit){ visit, context });
		return;
	}
	for (; root; root = root->right) {
		map_each(root->left, visit, context);
		visit(context, root->map);
	}
}

/* further mappings simply replace others: kernels have a few hundred modules, which do not overlap */
enum { CONTESTED_MAX = 1024 };

static int maps_compare(const struct map *a, const struct map *b)
{
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end < b->end ? -1 : a->end > b->end;
}

/* Adds a mapping to kernel_maps; false: it is there already. */
static bool kernel_maps_add(struct model *model, const struct map *map)
{
	size_t at = SEARCH_COUNT(model->kernel_maps.count, i, maps_compare(&model->kernel_maps.items[i], map) < 0);
	struct map *items = model->kernel_maps.items;
	if (at < model->kernel_maps.count && maps_compare(&items[at], map) == 0 && items[at].module == map->module)
		return false;
	vec_push(&model->kernel_maps, *map);
	items = model->kernel_maps.items;
	memmove(items + at + 1, items + at, (model->kernel_maps.count - 1 - at) * sizeof *items);
	items[at] = *map;
	return true;
}

/* Removes the mapping of the kernel itself, which a new record of it moves. */
static void kernel_maps_remove(struct model *model, uint32_t module)
{
	size_t left = 0;
	for (size_t i = 0; i < model->kernel_maps.count; i++)
		if (model->kernel_maps.items[i].module != module)
			model->kernel_maps.items[left++] = model->kernel_maps.items[i];
	model->kernel_maps.count = left;
}

static const struct map *kernel_map_found_by_perf(const struct model *model, uint64_t address)
{
	size_t low = 0, high = model->kernel_maps.count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct map *map = &model->kernel_maps.items[middle];
		if (address < map->start)
			high = middle;
		else if (address >= map->end)
			low = middle + 1;
		else
			return map;
	}
	return NULL;
}

/* Whether `there` is the expected mapping; a section of the kernel's file counts as the kernel. */
static bool mapping_is_expected(const struct model *model, const struct map *there, const struct map *wanted)
{
	if (!there || !wanted)
		return !there && !wanted;
	const struct module *whole = modules_get(&model->modules, there->module)->whole;
	return there->module == wanted->module || (whole && whole->id == wanted->module);
}

/* Corrects one address range, in which all addresses have the same expected mapping. */
static void kernel_range_settle(struct model *model, uint64_t clock, uint64_t start, uint64_t end)
{
	const struct map *there = map_find(model_kernel_root(model, clock), start), *wanted = kernel_map_found_by_perf(model, start);
	if (mapping_is_expected(model, there, wanted))
		return;
	struct map tree_of_part = wanted ? *wanted : *there;
	tree_of_part.pgoff += start - tree_of_part.start;
	tree_of_part.start = start;
	tree_of_part.end = end;
	space_insert(model, model->kernel_space, clock, &tree_of_part);
	if (!wanted)
		space_remove(model, model->kernel_space, clock, start);
}

static int borders_compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static void kernel_maps_settle(struct model *model, uint64_t clock)
{
	size_t count = 0;
	uint64_t *borders = memory_alloc(2 * model->kernel_maps.count * sizeof *borders);
	for (size_t i = 0; i < model->kernel_maps.count; i++) {
		borders[count++] = model->kernel_maps.items[i].start;
		borders[count++] = model->kernel_maps.items[i].end;
	}
	qsort(borders, count, sizeof *borders, borders_compare);
	for (size_t i = 0; i + 1 < count; i++)
		if (borders[i] < borders[i + 1])
			kernel_range_settle(model, clock, borders[i], borders[i + 1]);
	free(borders);
}

static bool kernel_maps_overlap(const struct model *model)
{
	uint64_t reach = 0;
	for (size_t i = 0; i < model->kernel_maps.count; i++) {
		const struct map *map = &model->kernel_maps.items[i];
		if (map->start < reach)
			return true;
		reach = map->end;
	}
	return false;
}

void space_insert_kernel(struct model *model, uint64_t clock, const struct map *map)
{
	if (!map->start && map->end == UINT64_MAX) { /* a kernel that hides its addresses: it has every address that no module has */
		space_insert(model, model->kernel_space, clock, map);
		return;
	}
	if (modules_get(&model->modules, map->module)->kind == MODULE_KERNEL)
		kernel_maps_remove(model, map->module);
	bool fresh = model->kernel_maps.count >= CONTESTED_MAX || kernel_maps_add(model, map);
	space_insert(model, model->kernel_space, clock, map);
	if (model->kernel_maps.count >= CONTESTED_MAX)
		return;
	model->kernel_contested |= fresh && kernel_maps_overlap(model);
	if (model->kernel_contested)
		kernel_maps_settle(model, clock);
}
