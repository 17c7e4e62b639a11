#include "analysis/flame/flame_tree.h"

#include <stdlib.h>

#include "base/memory.h"

enum { FRAME_ALL = 0 };

void flame_builder_init(struct flame_builder *builder)
{
	*builder = (struct flame_builder){ 0 };
	stacks_init(&builder->stacks);
	tuples_init(&builder->keys, 3, 3);
	flame_builder_frame(builder, "all", "", FLAME_ROOT);
}

void flame_builder_fini(struct flame_builder *builder)
{
	stacks_fini(&builder->stacks);
	vec_fini(&builder->weights);
	for (int side = 0; side < FLAME_SIDES; side++)
		vec_fini(&builder->sides[side]);
	vec_fini(&builder->frames);
	strtab_fini(&builder->texts);
	tuples_fini(&builder->keys);
	arena_fini(&builder->arena);
	*builder = (struct flame_builder){ 0 };
}

static uint32_t printable_text_id(struct flame_builder *builder, const char *text)
{
	size_t len = strlen(text);
	if (text_is_printable(text, len))
		return strtab_add(&builder->texts, text, len);
	char *copy = arena_string(&builder->arena, text, len);
	text_make_printable(copy);
	return strtab_add(&builder->texts, copy, len);
}

uint32_t flame_builder_frame(struct flame_builder *builder, const char *name, const char *module, enum flame_kind kind)
{
	uint32_t name_id = printable_text_id(builder, name), module_id = printable_text_id(builder, module);
	uint64_t key[3] = { name_id, module_id, kind };
	uint32_t id = tuples_add(&builder->keys, key);
	if (id == builder->frames.count) {
		struct flame_frame *frame = vec_add(&builder->frames);
		frame->name = strtab_text(&builder->texts, name_id);
		frame->module = strtab_text(&builder->texts, module_id);
		frame->kind = kind;
	}
	return id;
}

uint32_t flame_builder_push(struct flame_builder *builder, uint32_t parent, uint32_t frame)
{
	return stacks_push(&builder->stacks, parent, frame);
}

void flame_builder_add(struct flame_builder *builder, uint32_t node, uint64_t weight, uint64_t samples)
{
	struct flame_weight *at = flame_weight_of(&builder->weights, node);
	at->weight = flame_sum(at->weight, weight);
	at->samples = flame_sum(at->samples, samples);
}

static struct flame_weight weight_at(const struct flame_weights *weights, uint32_t node)
{
	return node < weights->count ? weights->items[node] : (struct flame_weight){ 0 };
}

static struct flame_weight weights_total(const struct flame_weights *weights)
{
	struct flame_weight total = { 0 };
	for (size_t i = 0; i < weights->count; i++) {
		total.weight = flame_sum(total.weight, weights->items[i].weight);
		total.samples = flame_sum(total.samples, weights->items[i].samples);
	}
	return total;
}

struct flame_weight flame_builder_total(const struct flame_builder *builder)
{
	return weights_total(&builder->weights);
}

void flame_builder_end_side(struct flame_builder *builder, enum flame_side side)
{
	builder->sides[side] = builder->weights;
	builder->weights = (struct flame_weights){ 0 };
	builder->compares = true;
}

static uint64_t part_of_whole(struct flame_weight part, struct flame_weight total)
{
	return total.weight ? (uint64_t)((double)part.weight / (double)total.weight * (double)FLAME_WHOLE + 0.5) : 0;
}

void flame_builder_compare(struct flame_builder *builder, enum flame_widths widths)
{
	struct flame_weight totals[FLAME_SIDES] = { weights_total(&builder->sides[FLAME_OLD]), weights_total(&builder->sides[FLAME_NEW]) };
	for (uint32_t i = 0; i < builder->stacks.count; i++) {
		struct flame_weight old = weight_at(&builder->sides[FLAME_OLD], i), new = weight_at(&builder->sides[FLAME_NEW], i);
		uint64_t before = part_of_whole(old, totals[FLAME_OLD]), after = part_of_whole(new, totals[FLAME_NEW]);
		uint64_t width = widths == FLAME_WIDTH_OLD ? before : widths == FLAME_WIDTH_NEW ? after : (before + after) / 2;
		if (width)
			flame_builder_add(builder, i, width, flame_sum(old.samples, new.samples));
	}
}

/* Returns by node: the weight of stacks that end there or deeper. The id of a parent is lower than those of its children. */
static struct flame_weight *total_weights(const struct flame_builder *builder, const struct flame_weights *weights)
{
	uint32_t count = builder->stacks.count;
	struct flame_weight *totals = memory_zero(count, sizeof *totals);
	for (uint32_t i = count; i-- > 0;) {
		struct flame_weight own = weight_at(weights, i);
		totals[i].weight = flame_sum(totals[i].weight, own.weight);
		totals[i].samples = flame_sum(totals[i].samples, own.samples);
		if (i == STACK_ROOT)
			break;
		struct flame_weight *parent = &totals[builder->stacks.nodes[i].parent];
		parent->weight = flame_sum(parent->weight, totals[i].weight);
		parent->samples = flame_sum(parent->samples, totals[i].samples);
	}
	return totals;
}

static int flame_frame_compare(const void *a, const void *b, void *context)
{
	const struct flame_frame *frames = context;
	const struct flame_frame *x = &frames[*(const uint32_t *)a], *y = &frames[*(const uint32_t *)b];
	int order = strcmp(x->name, y->name);
	if (order == 0)
		order = strcmp(x->module, y->module);
	return order ? order : (int)x->kind - (int)y->kind;
}

/* Returns by frame: its position in the order of names. */
static uint32_t *frame_ranks(const struct flame_builder *builder)
{
	uint32_t count = (uint32_t)builder->frames.count;
	uint32_t *order CLEANUP_FREE = memory_zero(count, sizeof *order);
	uint32_t *ranks = memory_zero(count, sizeof *ranks);
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof *order, flame_frame_compare, builder->frames.items);
	for (uint32_t i = 0; i < count; i++)
		ranks[order[i]] = i;
	return ranks;
}

/* The children of the remaining nodes, in order of name: those of node n are items[first[n]] up to items[first[n + 1]]. */
struct children {
	uint32_t *first, *items;
};

static uint32_t *counts_to_starts(uint32_t *counts, uint32_t n)
{
	uint32_t sum = 0;
	for (uint32_t i = 0; i <= n; i++) {
		uint32_t here = i < n ? counts[i] : 0;
		counts[i] = sum;
		sum += here;
	}
	return counts;
}

/* Two stable counting sorts: by the frame's rank, then by the parent. */
static struct children sort_children(const struct flame_builder *builder, const struct flame_weight *totals, uint64_t least)
{
	const struct stack_node *nodes = builder->stacks.nodes;
	uint32_t count = builder->stacks.count, frames = (uint32_t)builder->frames.count;
	uint32_t *ranks CLEANUP_FREE = frame_ranks(builder);
	uint32_t *at CLEANUP_FREE = memory_zero((size_t)frames + 1, sizeof *at);
	uint32_t *by_rank CLEANUP_FREE = memory_zero(count, sizeof *by_rank);
	struct children children = { .first = memory_zero((size_t)count + 1, sizeof(uint32_t)) };
	uint32_t kept = 0;
	for (uint32_t i = 1; i < count; i++) {
		if (totals[i].weight < least)
			continue;
		at[ranks[nodes[i].place]]++;
		children.first[nodes[i].parent]++;
		kept++;
	}
	counts_to_starts(at, frames);
	for (uint32_t i = 1; i < count; i++)
		if (totals[i].weight >= least)
			by_rank[at[ranks[nodes[i].place]]++] = i;
	counts_to_starts(children.first, count);
	children.items = memory_zero((size_t)kept + 1, sizeof(uint32_t));
	uint32_t *next CLEANUP_FREE = memory_zero((size_t)count + 1, sizeof *next);
	memcpy(next, children.first, ((size_t)count + 1) * sizeof *next);
	for (uint32_t k = 0; k < kept; k++)
		children.items[next[nodes[by_rank[k]].parent]++] = by_rank[k];
	return children;
}

struct walk_step {
	uint32_t node, out, next; /* in the builder, in the tree, index of the next child */
};

/* Fills the sides of the tree's nodes, whose numbers in the builder are known. */
static void add_sides(struct flame_tree *tree, const struct flame_builder *builder, const uint32_t *node_of)
{
	tree->sides = memory_zero(tree->count, sizeof *tree->sides);
	tree->own_sides = memory_zero(tree->count, sizeof *tree->own_sides);
	for (int side = 0; side < FLAME_SIDES; side++) {
		struct flame_weight *totals CLEANUP_FREE = total_weights(builder, &builder->sides[side]);
		for (uint32_t i = 0; i < tree->count; i++) {
			tree->sides[i][side] = totals[node_of[i]];
			tree->own_sides[i][side] = weight_at(&builder->sides[side], node_of[i]);
		}
	}
}

static uint32_t flame_tree_emit_node(struct flame_tree *tree, const struct flame_builder *builder, const struct flame_weight *totals,
	uint32_t node, uint32_t depth)
{
	struct flame_weight self = weight_at(&builder->weights, node);
	tree->nodes[tree->count] = (struct flame_node){
		.frame = node == STACK_ROOT ? FRAME_ALL : builder->stacks.nodes[node].place, .depth = depth,
		.self = self.weight, .self_samples = self.samples, .weight = totals[node].weight, .samples = totals[node].samples,
	};
	if (depth > tree->max_depth)
		tree->max_depth = depth;
	return tree->count++;
}

void flame_tree_make(struct flame_tree *tree, struct flame_builder *builder, uint64_t least)
{
	struct flame_weight *totals CLEANUP_FREE = total_weights(builder, &builder->weights);
	struct children children = sort_children(builder, totals, least ? least : 1);
	uint32_t kept = children.first[builder->stacks.count] + 1;
	*tree = (struct flame_tree){ .nodes = memory_zero(kept, sizeof *tree->nodes), .frames = builder->frames.items };
	tree->dropped = builder->stacks.count - kept;
	uint32_t *node_of CLEANUP_FREE = memory_zero(kept, sizeof *node_of);
	VEC(struct walk_step) path = { 0 };
	vec_push(&path, ((struct walk_step){ .node = STACK_ROOT, .out = flame_tree_emit_node(tree, builder, totals, STACK_ROOT, 0),
					     .next = children.first[STACK_ROOT] }));
	while (path.count) {
		struct walk_step *top = &path.items[path.count - 1];
		if (top->next == children.first[top->node + 1]) {
			tree->nodes[top->out].end = tree->count;
			path.count--;
			continue;
		}
		uint32_t child = children.items[top->next++];
		uint32_t out = flame_tree_emit_node(tree, builder, totals, child, (uint32_t)path.count);
		node_of[out] = child;
		vec_push(&path, ((struct walk_step){ .node = child, .out = out, .next = children.first[child] }));
	}
	vec_fini(&path);
	if (builder->compares)
		add_sides(tree, builder, node_of);
	free(children.first);
	free(children.items);
}

size_t flame_tree_node_bytes(void)
{
	enum { LISTS = 5 }; /* of sort_children, and node_of */
	return sizeof(struct flame_weight) + sizeof(struct flame_node) + LISTS * sizeof(uint32_t);
}

void flame_tree_fini(struct flame_tree *tree)
{
	free(tree->nodes);
	free(tree->sides);
	free(tree->own_sides);
	*tree = (struct flame_tree){ 0 };
}
