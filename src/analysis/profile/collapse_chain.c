/* Merges call trees: a trie with a node for each frame, and the part of it that a report shows. */
#include <math.h>
#include <stdlib.h>

#include "analysis/profile/collapse.h"
#include "analysis/profile/fold.h"

struct join_node {
	uint32_t place;
	bool bare;                      /* has no name */
	struct branch_marks marks;      /* of the first tree alone, as in perf */
	uint32_t first_child, last_child, next_sibling; /* 0: none */
	uint64_t hit, below;            /* below: with hit */
	uint32_t count, count_below;
};

void chain_joiner_init(struct chain_joiner *joiner, const struct profile *profile)
{
	*joiner = (struct chain_joiner){ .profile = profile };
	vec_push(&joiner->nodes, ((struct join_node){ 0 }));
}

void chain_joiner_fini(struct chain_joiner *joiner)
{
	vec_fini(&joiner->nodes);
	vec_fini(&joiner->roots);
	vec_fini(&joiner->tree);
	vec_fini(&joiner->places);
	vec_fini(&joiner->marks);
	vec_fini(&joiner->order);
}

static uint32_t add_child(struct chain_joiner *joiner, uint32_t parent, uint32_t place, bool bare)
{
	uint32_t child = (uint32_t)joiner->nodes.count;
	vec_push(&joiner->nodes, ((struct join_node){ .place = place, .bare = bare }));
	struct join_node *above = &joiner->nodes.items[parent];
	if (above->last_child)
		joiner->nodes.items[above->last_child].next_sibling = child;
	else
		above->first_child = child;
	above->last_child = child;
	return child;
}

static bool same_frame(const struct profile *profile, uint32_t a, uint32_t b)
{
	if (profile->options.chain.key == CHAIN_SRCLINE)
		return chains_same_line(profile, a, b);
	const struct place *x = stacks_place_at(profile->collected.stacks, a), *y = stacks_place_at(profile->collected.stacks, b);
	return x->module == y->module && x->ip == y->ip;
}

static uint32_t enter(struct chain_joiner *joiner, uint32_t parent, uint32_t place, bool bare)
{
	uint32_t child = bare ? joiner->nodes.items[parent].first_child : 0;
	while (child && !same_frame(joiner->profile, joiner->nodes.items[child].place, place))
		child = joiner->nodes.items[child].next_sibling;
	return child ? child : add_child(joiner, parent, place, bare);
}

/* Added chains count once each, regardless of their samples. */
static void hang_in(struct chain_joiner *joiner, uint32_t at, const struct chain_tree *tree, uint32_t index, bool bare)
{
	const struct chain_node *node = &tree->nodes[index];
	for (uint32_t i = 0; i < node->place_count; i++) {
		at = enter(joiner, at, tree->places[node->first_place + i], bare);
		if (tree->marks && !bare)
			joiner->nodes.items[at].marks = tree->marks[node->first_place + i];
	}
	joiner->nodes.items[at].hit += node->hit;
	joiner->nodes.items[at].count += bare ? node->hit != 0 : node->count;
	for (uint32_t i = 0; i < node->child_count; i++)
		hang_in(joiner, at, tree, tree->order[node->first_child + i], bare);
}

void chain_joiner_add(struct chain_joiner *joiner, uint32_t number, const struct chain_tree *tree)
{
	bool bare = number < joiner->roots.count;
	if (!bare) {
		vec_push(&joiner->nodes, ((struct join_node){ 0 }));
		vec_push(&joiner->roots, (uint32_t)joiner->nodes.count - 1);
	}
	if (tree)
		hang_in(joiner, joiner->roots.items[number], tree, 0, bare);
}

static void add_up(struct chain_joiner *joiner, uint32_t at)
{
	uint64_t below = joiner->nodes.items[at].hit;
	uint32_t count = joiner->nodes.items[at].count;
	for (uint32_t child = joiner->nodes.items[at].first_child; child; child = joiner->nodes.items[child].next_sibling) {
		add_up(joiner, child);
		below += joiner->nodes.items[child].below;
		count += joiner->nodes.items[child].count_below;
	}
	joiner->nodes.items[at].below = below;
	joiner->nodes.items[at].count_below = count;
}

/* The place that is shown; without a name, the address. */
static uint32_t shown_place(struct chain_joiner *joiner, const struct join_node *node)
{
	struct stacks *stacks = joiner->profile->collected.stacks;
	if (!node->bare)
		return node->place;
	struct place place = *stacks_place_at(stacks, node->place);
	place.symbol = 0;
	place.key_ip = place.ip;
	return stacks_place(stacks, &place);
}

struct join_branch {
	uint32_t node, shown;
	uint64_t period;
};

static int compare_branches(const void *a, const void *b, void *context)
{
	const struct profile *profile = context;
	const struct join_branch *x = a, *y = b;
	bool graph = profile->options.chain.mode == CHAIN_GRAPH || profile->options.chain.mode == CHAIN_FRACTAL;
	if (graph && x->period != y->period)
		return x->period > y->period ? -1 : 1;
	int64_t order = chains_compare(profile, x->shown, y->shown);
	return order > 0 ? -1 : order < 0;
}

static uint32_t grow(struct chain_joiner *joiner, uint32_t parent, uint32_t at, uint64_t min_hit);

static void branch_out(struct chain_joiner *joiner, uint32_t index, uint32_t at, uint64_t min_hit)
{
	const struct chain_options *options = &joiner->profile->options.chain;
	const struct join_node *node = &joiner->nodes.items[at];
	VEC(struct join_branch) branches = { 0 };
	joiner->tree.items[index].hit = node->hit;
	joiner->tree.items[index].count = node->count;
	joiner->tree.items[index].children_hit = node->below - node->hit;
	joiner->tree.items[index].children_count = node->count_below - node->count;
	uint64_t least = min_hit;
	if (options->mode == CHAIN_FRACTAL)
		least = (uint64_t)ceil((double)(node->below - node->hit) * (options->min_percent / 100.0));
	for (uint32_t child = node->first_child; child; child = joiner->nodes.items[child].next_sibling) {
		const struct join_node *below = &joiner->nodes.items[child];
		if (below->below >= least)
			vec_push(&branches, ((struct join_branch){ child, shown_place(joiner, below), below->below }));
	}
	if (branches.count)
		qsort_r(branches.items, branches.count, sizeof *branches.items, compare_branches, (void *)joiner->profile);
	uint32_t order = (uint32_t)joiner->order.count;
	for (size_t i = 0; i < branches.count; i++)
		vec_push(&joiner->order, 0);
	joiner->tree.items[index].first_child = order;
	joiner->tree.items[index].child_count = (uint32_t)branches.count;
	for (size_t i = 0; i < branches.count; i++) {
		uint32_t child = grow(joiner, index, branches.items[i].node, min_hit);
		joiner->order.items[order + i] = child;
	}
	vec_fini(&branches);
}

/* A node for `at` and the frames that follow alone. */
static uint32_t grow(struct chain_joiner *joiner, uint32_t parent, uint32_t at, uint64_t min_hit)
{
	uint32_t index = (uint32_t)joiner->tree.count;
	vec_push(&joiner->tree, ((struct chain_node){ .parent = parent, .first_place = (uint32_t)joiner->places.count }));
	for (;;) {
		const struct join_node *node = &joiner->nodes.items[at];
		uint32_t place = shown_place(joiner, node);
		vec_push(&joiner->places, place);
		vec_push(&joiner->marks, node->marks);
		joiner->tree.items[index].place_count++;
		if (node->count || node->first_child != node->last_child || !node->first_child)
			break;
		at = node->first_child;
	}
	branch_out(joiner, index, at, min_hit);
	return index;
}

struct chain_tree *chain_joiner_tree(struct chain_joiner *joiner, uint32_t number, uint64_t min_hit)
{
	uint32_t root = joiner->roots.items[number];
	add_up(joiner, root);
	vec_clear(&joiner->tree);
	vec_clear(&joiner->places);
	vec_clear(&joiner->marks);
	vec_clear(&joiner->order);
	vec_push(&joiner->tree, ((struct chain_node){ 0 }));
	branch_out(joiner, 0, root, min_hit);
	if (!joiner->tree.items[0].child_count)
		return NULL;
	struct chain_parts parts = { .nodes = joiner->tree.items, .count = (uint32_t)joiner->tree.count, .places = joiner->places.items,
		.place_count = joiner->places.count, .order = joiner->order.items, .order_count = joiner->order.count,
		.marks = joiner->profile->options.branch_marks ? joiner->marks.items : NULL };
	return fold_keep_tree(joiner->profile, joiner->profile->arena, &parts, min_hit);
}
