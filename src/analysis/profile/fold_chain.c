/* The chains of one entry, from the trie of its sample key: a compressed trie that contains only what is shown. */
#include <math.h>
#include <stdlib.h>

#include "analysis/column/source.h"
#include "analysis/entry/names.h"
#include "analysis/profile/fold.h"

bool chains_same_line(const struct profile *profile, uint32_t place_a, uint32_t place_b)
{
	const struct place *a = stacks_place_at(profile->collected.stacks, place_a), *b = stacks_place_at(profile->collected.stacks, place_b);
	bool known = a->map && b->map && *profile_place_line_text(profile, place_a) && *profile_place_line_text(profile, place_b);
	return known ? profile_place_line(profile, place_a) == profile_place_line(profile, place_b) : a->map == b->map && a->ip == b->ip;
}

int64_t chains_compare(const struct profile *profile, uint32_t place_a, uint32_t place_b)
{
	const struct place *a = stacks_place_at(profile->collected.stacks, place_a), *b = stacks_place_at(profile->collected.stacks, place_b);
	if (profile->options.chain.key == CHAIN_SRCLINE && a->map && b->map && !chains_same_line(profile, place_a, place_b))
		return strcmp(profile_place_line_text(profile, place_a), profile_place_line_text(profile, place_b));
	bool by_symbol = profile->options.chain.key == CHAIN_FUNCTION && !profile->options.hierarchy;
	if (by_symbol && a->symbol && b->symbol && (symbol_is_inlined(a->symbol) || symbol_is_inlined(b->symbol)))
		return strcmp(profile_symbol_name(profile, a->module, a->symbol), profile_symbol_name(profile, b->module, b->symbol));
	if (a->module != b->module) {
		if (a->module == MODULE_ID_NONE || b->module == MODULE_ID_NONE)
			return a->module == MODULE_ID_NONE ? -1 : 1;
		return profile->collected.module_ranks[a->module] > profile->collected.module_ranks[b->module] ? 1 : -1;
	}
	const struct symbol *symbol_a = profile_symbol(profile, a->module, a->symbol);
	const struct symbol *symbol_b = profile_symbol(profile, b->module, b->symbol);
	uint64_t key_a = a->ip, key_b = b->ip;
	if (by_symbol && symbol_a && symbol_b) {
		key_a = symbol_a->start;
		key_b = symbol_b->start;
	} else if (by_symbol && (symbol_a || symbol_b)) {
		key_a = symbol_a ? symbol_a->start : a->map ? map_offset(a->map, a->ip) : a->ip;
		key_b = symbol_b ? symbol_b->start : b->map ? map_offset(b->map, b->ip) : b->ip;
	}
	return key_a > key_b ? 1 : key_a < key_b ? -1 : 0;
}

/* What a node has without the entry's own samples, if these have separate chains. */
static uint32_t others_count(const struct fold *fold, uint32_t node)
{
	return fold->nodes.items[node].count - (fold->own_apart ? fold->own.items[node].all_count : 0);
}

static uint64_t others_period(const struct fold *fold, uint32_t node)
{
	return fold->nodes.items[node].period - (fold->own_apart ? fold->own.items[node].all_period : 0);
}

/* Appends the steps that follow steps [first, end): inwards from callers, or outwards from callees. Adds the sums of chains that end there
 * to *node. */
static void follow_inwards(struct fold *fold, size_t first, size_t end, struct chain_node *node)
{
	for (size_t i = first; i < end; i++) {
		struct chain_step step = fold->steps.items[i];
		for (uint32_t child = fold->nodes.items[step.node].first_child; child; child = fold->nodes.items[child].next_sibling) {
			const struct trie_node *at = &fold->nodes.items[child];
			const struct own_sums *own = &fold->own.items[child];
			uint32_t count = step.own ? own->count : others_count(fold, child);
			uint64_t period = step.own ? own->period : others_period(fold, child);
			if (!count)
				continue;
			uint64_t clock = !fold->first_matters ? 0 : step.own ? own->first : fold->tallies.items[at->tally].tally->first;
			vec_push(&fold->steps, ((struct chain_step){ at->chain, child, period, clock, count, step.own }));
			step.period -= period;
			step.count -= count;
		}
		node->hit += step.period;
		node->count += step.count;
	}
}

static void follow_outwards(struct fold *fold, size_t first, size_t end, struct chain_node *node)
{
	for (size_t i = first; i < end; i++) {
		struct chain_step step = fold->steps.items[i];
		uint32_t parent = fold->nodes.items[step.node].parent;
		if (parent) {
			step.node = parent;
			step.chain = fold->nodes.items[parent].chain;
			vec_push(&fold->steps, step);
		} else {
			node->hit += step.period;
			node->count += step.count;
		}
	}
}

static void follow(struct fold *fold, size_t first, size_t end, struct chain_node *node)
{
	if (fold->profile->options.chain.order == CHAIN_CALLER)
		follow_inwards(fold, first, end, node);
	else
		follow_outwards(fold, first, end, node);
}

static int compare_frames(const void *a, const void *b)
{
	const struct chain_frame *x = a, *y = b;
	return x->chain < y->chain ? -1 : x->chain > y->chain;
}

static int compare_steps(const void *a, const void *b)
{
	const struct chain_step *x = a, *y = b;
	if (x->chain != y->chain)
		return x->chain < y->chain ? -1 : 1;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return x->own - y->own;
}

/* Orders steps from `first` on so that those of one frame are adjacent. */
static size_t gather_frames(struct fold *fold, size_t first)
{
	size_t count = fold->steps.count - first;
	uint32_t *frame_of = fold->frame_of_chain, at = 0;
	vec_clear(&fold->frames);
	if (!count)
		return 0;
	struct chain_step *steps = fold->steps.items + first;
	for (size_t i = 0; i < count; i++) {
		uint32_t chain = steps[i].chain;
		if (!frame_of[chain]) {
			vec_push(&fold->frames, ((struct chain_frame){ .chain = chain }));
			frame_of[chain] = (uint32_t)fold->frames.count;
		}
		fold->frames.items[frame_of[chain] - 1].steps++;
	}
	size_t frames = fold->frames.count;
	if (frames > 1) {
		qsort(fold->frames.items, frames, sizeof *fold->frames.items, compare_frames);
		for (size_t i = 0; i < frames; at += fold->frames.items[i++].steps)
			frame_of[fold->frames.items[i].chain] = at;
		vec_reserve(&fold->gathered, count);
		for (size_t i = 0; i < count; i++)
			fold->gathered.items[frame_of[steps[i].chain]++] = steps[i];
		memcpy(steps, fold->gathered.items, count * sizeof *steps);
	}
	for (size_t i = 0; i < frames; i++)
		frame_of[fold->frames.items[i].chain] = 0;
	return frames;
}

/* Sorts steps from `first` on by frame and joins those at the same node. */
static size_t gather_nodes(struct fold *fold, size_t first)
{
	struct chain_step *steps = fold->steps.items;
	if (fold->steps.count - first > 1)
		qsort(steps + first, fold->steps.count - first, sizeof *steps, compare_steps);
	size_t end = first, frames = 0;
	for (size_t i = first; i < fold->steps.count; i++) {
		if (end > first && compare_steps(&steps[end - 1], &steps[i]) == 0) {
			steps[end - 1].period += steps[i].period;
			steps[end - 1].count += steps[i].count;
			if (steps[i].first < steps[end - 1].first)
				steps[end - 1].first = steps[i].first;
			continue;
		}
		frames += end == first || steps[end - 1].chain != steps[i].chain;
		steps[end++] = steps[i];
	}
	fold->steps.count = end;
	return frames;
}

/* Returns the number of frames. Inwards no two steps have the same node and the same reason; branch marks need the order of nodes. */
static size_t gather(struct fold *fold, size_t first)
{
	const struct profile_options *options = &fold->profile->options;
	bool by_node = options->chain.order != CHAIN_CALLER || options->branch_marks;
	return by_node ? gather_nodes(fold, first) : gather_frames(fold, first);
}

/* Of several steps with the same clock, the one of the lowest node. */
static const struct chain_step *earliest_step(const struct fold *fold, size_t first, size_t end)
{
	const struct chain_step *steps = fold->steps.items, *earliest = &steps[first];
	for (size_t i = first + 1; i < end; i++)
		if (steps[i].first < earliest->first || (steps[i].first == earliest->first && steps[i].node < earliest->node))
			earliest = &steps[i];
	return earliest;
}

/* The place that the frame shows. In perf, chains of a hierarchy lose their symbols and show the address of the earliest sample. */
static uint32_t shown_place(const struct fold *fold, size_t first, size_t end)
{
	if (!fold->earliest_shows)
		return fold->steps.items[first].chain;
	return fold->nodes.items[earliest_step(fold, first, end)->node].place;
}

/* One of the frames that follow: steps [first, end). */
struct branch {
	size_t first, end;
	uint64_t period;
	uint32_t count, chain, shown;
	bool visible;                        /* above the threshold */
};

/* The larger one first; whole chains (FLAT, FOLDED) are sorted by their ends instead. */
static int compare_branches(const void *a, const void *b, void *context)
{
	const struct profile *profile = context;
	const struct branch *x = a, *y = b;
	if (x->visible != y->visible)
		return x->visible ? -1 : 1;
	bool graph = profile->options.chain.mode == CHAIN_GRAPH || profile->options.chain.mode == CHAIN_FRACTAL;
	if (graph && x->period != y->period)
		return x->period > y->period ? -1 : 1;
	int64_t order = chains_compare(profile, x->shown, y->shown);
	return order > 0 ? -1 : order < 0;
}

/* The chains of a hierarchy are counted once per distinct chain, so that all of them must be walked. */
static bool counts_chains(const struct fold *fold)
{
	return fold->profile->options.hierarchy && fold->profile->options.chain.value == CHAIN_COUNT;
}

static uint64_t threshold(const struct fold *fold, const struct chain_node *node, uint64_t min_hit)
{
	const struct chain_options *chain = &fold->profile->options.chain;
	if (chain->mode != CHAIN_FRACTAL || fold->whole_chains)
		return min_hit;
	return (uint64_t)ceil((double)node->children_hit * (chain->min_percent / 100.0));
}

static uint32_t add_node(struct fold *fold, uint32_t parent)
{
	struct chain_node *node = vec_add(&fold->tree);
	node->parent = parent;
	node->first_place = (uint32_t)fold->tree_places.count;
	return (uint32_t)fold->tree.count - 1;
}

static void grow(struct fold *fold, uint32_t at, size_t first, uint64_t min_hit);

/* Adds the branches below node `at`, whose steps are the last ones, from `first` on: sums of all, nodes of those above the threshold. */
static void branch_out(struct fold *fold, uint32_t at, size_t first, size_t frames, uint64_t min_hit)
{
	struct branch *branches = memory_resize(NULL, frames + 1, sizeof *branches);
	size_t count = 0;
	for (size_t i = first; i < fold->steps.count; i++) {
		const struct chain_step *step = &fold->steps.items[i];
		if (i == first || branches[count - 1].chain != step->chain)
			branches[count++] = (struct branch){ .first = i, .chain = step->chain };
		struct branch *branch = &branches[count - 1];
		branch->end = i + 1;
		branch->period += step->period;
		branch->count += step->count;
		fold->tree.items[at].children_hit += step->period;
		fold->tree.items[at].children_count += step->count;
	}
	uint64_t least = threshold(fold, &fold->tree.items[at], min_hit);
	size_t visible = 0;
	for (size_t i = 0; i < count; i++) {
		branches[i].shown = shown_place(fold, branches[i].first, branches[i].end);
		branches[i].visible = branches[i].period >= least;
		visible += branches[i].visible;
	}
	qsort_r(branches, count, sizeof *branches, compare_branches, (void *)fold->profile);
	if (!counts_chains(fold))
		count = visible;
	uint32_t order = (uint32_t)fold->tree_order.count;
	for (size_t i = 0; i < visible; i++)
		vec_push(&fold->tree_order, 0);
	fold->tree.items[at].first_child = order;
	fold->tree.items[at].child_count = (uint32_t)visible;
	uint32_t chains = 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t child = add_node(fold, at);
		if (i < visible)
			fold->tree_order.items[order + i] = child;
		size_t start = fold->steps.count;
		for (size_t j = branches[i].first; j < branches[i].end; j++)
			vec_push(&fold->steps, fold->steps.items[j]);
		grow(fold, child, start, min_hit);
		fold->steps.count = start;
		chains += fold->tree.items[child].count + fold->tree.items[child].children_count;
	}
	if (counts_chains(fold)) {
		fold->tree.items[at].count = fold->tree.items[at].hit != 0;
		fold->tree.items[at].children_count = chains;
	}
	free(branches);
}

/* Sums the branch marks of the frame of the steps from `first` on. */
static void add_marks(struct fold *fold, size_t first)
{
	struct branch_marks marks = { 0 };
	for (size_t i = first; i < fold->steps.count; i++) {
		const struct chain_step *step = &fold->steps.items[i];
		uint32_t place = fold->nodes.items[step->node].place;
		branch_marks_add(&marks, stacks_place_at(fold->profile->collected.stacks, place)->key_branch, step->count, step->first);
	}
	uint32_t place = fold->nodes.items[earliest_step(fold, first, fold->steps.count)->node].place;
	branch_marks_finish(&marks, stacks_place_at(fold->profile->collected.stacks, place)->key_branch);
	vec_push(&fold->tree_marks, marks);
}

/* Precondition: the steps from `first` on have one frame. Appends it and the frames that follow as the only ones, then the branches. */
static void grow(struct fold *fold, uint32_t at, size_t first, uint64_t min_hit)
{
	for (;;) {
		vec_push(&fold->tree_places, shown_place(fold, first, fold->steps.count));
		if (fold->profile->options.branch_marks)
			add_marks(fold, first);
		fold->tree.items[at].place_count++;
		size_t end = fold->steps.count;
		struct chain_node ending = { 0 };
		follow(fold, first, end, &ending);
		size_t frames = gather(fold, end);
		if (ending.count || frames != 1) {
			fold->tree.items[at].hit = ending.hit;
			fold->tree.items[at].count = ending.count;
			branch_out(fold, at, end, frames, min_hit);
			fold->steps.count = end;
			return;
		}
		size_t next = fold->steps.count - end;
		memmove(&fold->steps.items[first], &fold->steps.items[end], next * sizeof *fold->steps.items);
		fold->steps.count = first + next;
	}
}

/* Adds the entry's own samples, as whole paths from the root, to own. */
static void mark_own(struct fold *fold, const struct fold_entry *entry)
{
	for (uint32_t i = entry->first_tally; i; i = fold->tallies.items[i - 1].next_of_entry) {
		const struct fold_tally *at = &fold->tallies.items[i - 1];
		const struct tally *tally = at->tally;
		for (uint32_t node = at->leaf; node; node = fold->nodes.items[node].parent) {
			struct own_sums *own = &fold->own.items[node];
			own->all_period += tally->period;
			own->all_count += tally->count;
			if (tally->stale)
				continue;
			if (!own->count || tally->first < own->first)
				own->first = tally->first;
			own->period += tally->period;
			own->count += tally->count;
		}
	}
}

/* The reverse. Visits each node once: if a node is done, all nodes above it are done. */
static void unmark_own(struct fold *fold, const struct fold_entry *entry)
{
	for (uint32_t i = entry->first_tally; i; i = fold->tallies.items[i - 1].next_of_entry) {
		for (uint32_t node = fold->tallies.items[i - 1].leaf; node; node = fold->nodes.items[node].parent) {
			struct own_sums *own = &fold->own.items[node];
			if (!own->all_count && !own->all_period)
				break;
			*own = (struct own_sums){ 0 };
		}
	}
}

static void push_own(struct fold *fold, uint32_t node, bool own)
{
	const struct own_sums *sums = &fold->own.items[node];
	vec_push(&fold->steps, ((struct chain_step){ .chain = fold->nodes.items[node].chain, .node = node, .own = own,
		.period = sums->period, .count = sums->count, .first = sums->first }));
}

static void start_inwards(struct fold *fold, const struct fold_entry *entry)
{
	const struct trie_node *nodes = fold->nodes.items;
	for (uint32_t child = nodes[0].first_child; child; child = nodes[child].next_sibling)
		if (fold->own.items[child].count)
			push_own(fold, child, true);
	for (uint32_t node = entry->first_node; node; node = nodes[node].next_of_entry)
		if (others_count(fold, node))
			vec_push(&fold->steps, ((struct chain_step){ .chain = nodes[node].chain, .node = node,
				.period = others_period(fold, node), .count = others_count(fold, node),
				.first = fold->tallies.items[nodes[node].tally].tally->first }));
}

/* Entries of callers start at the node that fold_entries prepared: own has the sums of chains whose innermost occurrence is there. */
static void start_outwards(struct fold *fold, const struct fold_entry *entry)
{
	const struct trie_node *nodes = fold->nodes.items;
	for (uint32_t i = entry->first_tally; i; i = fold->tallies.items[i - 1].next_of_entry) {
		const struct fold_tally *at = &fold->tallies.items[i - 1];
		if (at->leaf && !at->tally->stale)
			vec_push(&fold->steps, ((struct chain_step){ .chain = nodes[at->leaf].chain, .node = at->leaf,
				.period = at->tally->period, .count = at->tally->count, .first = at->tally->first }));
	}
	for (uint32_t node = entry->first_node; node; node = nodes[node].next_of_entry)
		if (fold->own.items[node].count)
			push_own(fold, node, false);
}

static int compare_ends(const void *a, const void *b, void *context)
{
	const struct chain_node *nodes = context;
	uint64_t x = nodes[*(const uint32_t *)a].hit, y = nodes[*(const uint32_t *)b].hit;
	return x > y ? -1 : x < y; /* qsort_r is stable enough: glibc merges */
}

/* Children before their parents, in the order of frames. */
static void list_ends(uint32_t at, uint64_t min_hit, struct chain_tree *tree)
{
	const struct chain_node *node = &tree->nodes[at];
	for (uint32_t i = 0; i < node->child_count; i++)
		list_ends(tree->order[node->first_child + i], min_hit, tree);
	if (node->hit && node->hit >= min_hit)
		tree->ends[tree->end_count++] = at;
}

static size_t chain_bytes(const struct chain_parts *parts)
{
	return sizeof(struct chain_tree) + parts->count * (sizeof *parts->nodes + sizeof(uint32_t)) + parts->order_count * sizeof *parts->order +
		parts->place_count * (sizeof *parts->places + (parts->marks ? sizeof *parts->marks : 0));
}

struct chain_tree *fold_keep_tree(const struct profile *profile, struct arena *arena, const struct chain_parts *parts, uint64_t min_hit)
{
	enum chain_mode mode = profile->options.chain.mode;
	if (!budget_take(profile->chain_room, chain_bytes(parts)))
		return NULL;
	struct chain_tree *tree = arena_alloc(arena, sizeof *tree);
	tree->count = (uint32_t)parts->count;
	tree->nodes = arena_copy(arena, parts->nodes, parts->count * sizeof *parts->nodes);
	tree->places = arena_copy(arena, parts->places, parts->place_count * sizeof *parts->places);
	if (parts->marks)
		tree->marks = arena_copy(arena, parts->marks, parts->place_count * sizeof *parts->marks);
	tree->order = arena_copy(arena, parts->order, parts->order_count * sizeof *parts->order);
	if (mode == CHAIN_FLAT || mode == CHAIN_FOLDED) {
		tree->ends = arena_alloc(arena, tree->count * sizeof *tree->ends);
		list_ends(0, min_hit, tree);
		qsort_r(tree->ends, tree->end_count, sizeof *tree->ends, compare_ends, tree->nodes);
	}
	return tree;
}

static struct chain_tree *store_tree(const struct fold *fold, uint64_t min_hit)
{
	struct chain_parts parts = { .nodes = fold->tree.items, .count = fold->tree.count, .places = fold->tree_places.items,
		.place_count = fold->tree_places.count, .order = fold->tree_order.items, .order_count = fold->tree_order.count,
		.marks = fold->profile->options.branch_marks ? fold->tree_marks.items : NULL };
	return fold_keep_tree(fold->profile, fold->arena, &parts, min_hit);
}

struct chain_tree *fold_chain(struct fold *fold, const struct fold_entry *entry, uint64_t min_hit)
{
	bool inwards = fold->profile->options.chain.order == CHAIN_CALLER;
	bool callers = fold->profile->options.iteration == ITERATE_CALLERS;
	bool by_line = fold->profile->options.chain.key == CHAIN_SRCLINE;
	fold->earliest_shows = fold->profile->options.hierarchy || fold->whole_chains || by_line;
	fold->first_matters = fold->earliest_shows || fold->profile->options.branch_marks;
	vec_clear(&fold->steps);
	vec_clear(&fold->tree);
	vec_clear(&fold->tree_places);
	vec_clear(&fold->tree_marks);
	vec_clear(&fold->tree_order);
	if (inwards) {
		fold->own_apart = callers && !fold->counts_repeats;
		mark_own(fold, entry);
		start_inwards(fold, entry);
	} else {
		start_outwards(fold, entry);
	}
	struct chain_tree *tree = NULL;
	size_t frames = gather(fold, 0);
	if (frames) {
		add_node(fold, 0);
		branch_out(fold, 0, 0, frames, min_hit);
		if (fold->tree.items[0].child_count)
			tree = store_tree(fold, min_hit);
	}
	if (inwards)
		unmark_own(fold, entry);
	return tree;
}
