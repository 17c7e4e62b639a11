#include "model/space.h"

static uint32_t next_priority(struct model *model)
{
	model->random += 0x9e3779b97f4a7c15u;
	return (uint32_t)(hash_u64(model->random) >> 32);
}

static struct map_node *node_copy(struct model *model, const struct map_node *node)
{
	if (model->edit && node->edit == model->edit)
		return (struct map_node *)node;
	struct map_node *copy = arena_copy(&model->arena, node, sizeof *node);
	copy->edit = model->edit;
	return copy;
}

static const struct map_node *node_of(struct model *model, const struct map *map)
{
	struct map_node *node = arena_alloc(&model->arena, sizeof *node);
	node->start = map->start;
	node->end = map->end;
	node->map = map;
	node->priority = next_priority(model);
	node->edit = model->edit;
	return node;
}

/* Mappings that start below `at` to *low, the others to *high. */
static void split(struct model *model, const struct map_node *root, uint64_t at, const struct map_node **low,
		  const struct map_node **high)
{
	if (!root) {
		*low = *high = NULL;
		return;
	}
	struct map_node *copy = node_copy(model, root);
	if (root->start < at) {
		split(model, root->right, at, &copy->right, high);
		*low = copy;
	} else {
		split(model, root->left, at, low, &copy->left);
		*high = copy;
	}
}

/* All of low lies below all of high. */
static const struct map_node *join(struct model *model, const struct map_node *low, const struct map_node *high)
{
	if (!low || !high)
		return low ? low : high;
	struct map_node *top;
	if (low->priority > high->priority) {
		top = node_copy(model, low);
		top->right = join(model, low->right, high);
	} else {
		top = node_copy(model, high);
		top->left = join(model, low, high->left);
	}
	return top;
}

static const struct map_node *rightmost(const struct map_node *root)
{
	while (root && root->right)
		root = root->right;
	return root;
}

/* The tree without its rightmost mapping. */
static const struct map_node *without_rightmost(struct model *model, const struct map_node *root)
{
	if (!root->right)
		return root->left;
	struct map_node *copy = node_copy(model, root);
	copy->right = without_rightmost(model, root->right);
	return copy;
}

/* The part of `map` in [start, end), as a tree of its own. */
static const struct map_node *piece(struct model *model, const struct map *map, uint64_t start, uint64_t end)
{
	struct map *part = arena_copy(&model->arena, map, sizeof *map);
	part->pgoff += start - map->start;
	part->start = start;
	part->end = end;
	return node_of(model, part);
}

uint32_t space_new(struct model *model)
{
	struct space *space = memory_zero(1, sizeof *space);
	vec_push(&model->spaces, space);
	return (uint32_t)model->spaces.count - 1;
}

const struct map_node *space_root(const struct space *space, uint64_t clock)
{
	size_t low = 0, high = space->versions.count;
	if (high && space->versions.items[high - 1].clock <= clock)
		return space->versions.items[high - 1].root;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (space->versions.items[middle].clock <= clock)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? space->versions.items[low - 1].root : NULL;
}

void space_set_root(struct model *model, uint32_t id, uint64_t clock, const struct map_node *root)
{
	struct space *space = model->spaces.items[id];
	size_t count = space->versions.count;
	if (count && space->versions.items[count - 1].clock == clock)
		space->versions.items[count - 1].root = root;
	else
		vec_push(&space->versions, ((struct space_version){ .clock = clock, .root = root }));
}

void space_insert(struct model *model, uint32_t id, uint64_t clock, const struct map *map)
{
	const struct map_node *low, *rest, *covered, *high, *tail = NULL;
	struct map *fresh = arena_copy(&model->arena, map, sizeof *map);
	fresh->serial = ++model->mappings;
	split(model, space_root(model->spaces.items[id], clock), map->start, &low, &rest);
	split(model, rest, map->end, &covered, &high);
	const struct map_node *before = rightmost(low), *last = rightmost(covered);
	if (before && before->end > map->start) {
		const struct map *old = before->map;
		low = join(model, without_rightmost(model, low), piece(model, old, old->start, map->start));
		if (old->end > map->end)
			tail = piece(model, old, map->end, old->end);
	}
	if (last && last->end > map->end)
		tail = piece(model, last->map, map->end, last->end);
	const struct map_node *root = join(model, low, node_of(model, fresh));
	space_set_root(model, id, clock, join(model, join(model, root, tail), high));
}

struct stays {
	struct model *model;
	uint64_t start, end;
	VEC(const struct map *) maps;
};

/* What reaches into [start, end), in order of address. */
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
		collect_jit(&stays, space_root(model->spaces.items[id], clock));
	model->edit = ++model->edits;
	space_insert(model, id, clock, map);
	model->jit_budget -= stays.maps.count < model->jit_budget ? stays.maps.count : model->jit_budget;
	for (size_t i = 0; i < stays.maps.count; i++)
		space_insert(model, id, clock, stays.maps.items[i]);
	model->edit = 0;
	vec_fini(&stays.maps);
}

void space_remove(struct model *model, uint32_t id, uint64_t clock, uint64_t address)
{
	const struct map_node *root = space_root(model->spaces.items[id], clock), *low, *rest, *gone, *high;
	const struct map *map = map_find(root, address);
	if (!map)
		return;
	split(model, root, map->start, &low, &rest);
	split(model, rest, map->end, &gone, &high);
	space_set_root(model, id, clock, join(model, low, high));
}

const struct map *map_find(const struct map_node *root, uint64_t address)
{
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

void map_each(const struct map_node *root, void (*visit)(void *context, const struct map *map), void *context)
{
	for (; root; root = root->right) {
		map_each(root->left, visit, context);
		visit(context, root->map);
	}
}
