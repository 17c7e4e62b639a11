#include "base/rb_blocks.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/rb_tree.h"

enum { AHEAD = 12, LANES = 12, JOB_BLOCKS = 32 };

/* A block, or an item in no block. Elements are in order of their numbers, from 1; 0: none. */
struct element {
	uint32_t before, after;        /* its neighbours when its first item is inserted */
	uint32_t leftmost, rightmost;  /* its first and last nodes; 0: none so far */
	uint32_t top;                  /* a node near the root; before the insertions: the first node that it will have */
};

struct ordering {
	struct rb_tree *tree;          /* node i + 1 is item i */
	struct rb_node *nodes;         /* its nodes */
	struct element *elements;
};

static inline uint32_t element_of(const struct ordering *o, uint32_t item)
{
	return o->nodes[item + 1].key.element;
}

/* Numbers the elements; returns their number. */
static uint32_t make_elements(struct ordering *o, const uint32_t *sorted, uint32_t count, const struct rb_block *blocks, size_t block_count)
{
	uint32_t elements = 0;
	size_t block = 0;
	for (uint32_t i = 0; i < count; i++) {
		bool in_block = block < block_count && i >= blocks[block].first;
		elements += !in_block || i == blocks[block].first;
		o->nodes[sorted[i] + 1].key.element = elements;
		block += in_block && i + 1 == blocks[block].end;
	}
	o->elements = memory_table((size_t)elements + 2, sizeof *o->elements);
	return elements;
}

/* Removes the elements in reverse: what is left are the neighbours at the time of each insertion. */
static void find_neighbours(struct ordering *o, uint32_t count, uint32_t elements)
{
	struct element *all = o->elements;
	for (uint32_t i = count; i > 0; i--)
		all[element_of(o, i - 1)].top = i;
	for (uint32_t e = 1; e <= elements; e++) {
		all[e].before = e - 1;
		all[e].after = e < elements ? e + 1 : 0;
	}
	for (uint32_t i = count; i > 0; i--) {
		if (i > AHEAD)
			__builtin_prefetch(&all[element_of(o, i - AHEAD)]);
		const struct element *element = &all[element_of(o, i - 1)];
		if (element->top != i)
			continue;
		all[element->before].after = element->after;
		all[element->after].before = element->before;
	}
}

/* The first item of an element: its neighbours are neighbours in the tree, of which the lower one has a free side. */
static void attach_first(struct ordering *o, struct element *element, uint32_t node)
{
	uint32_t before = o->elements[element->before].rightmost, after = o->elements[element->after].leftmost;
	bool right = before && !o->nodes[before].child[1];
	rb_tree_attach(o->tree, node, right ? before : after, right);
	element->leftmost = element->rightmost = node;
}

/* The element's node that is nearest to the root. */
static uint32_t top_of(const struct ordering *o, uint32_t number)
{
	const struct rb_node *nodes = o->nodes;
	bool is_behind = false, is_before = false;
	uint32_t top = o->elements[number].top;
	for (uint32_t at = nodes[top].parent; at && !(is_behind && is_before); at = nodes[at].parent) {
		uint32_t other = nodes[at].key.element;
		if (other == number)
			top = at;
		is_behind |= other < number;
		is_before |= other > number;
	}
	return top;
}

/* Whether an item's position is to the right of an existing one. */
static inline bool is_right(const struct rb_key *item, const struct rb_key *existing)
{
	if (item->element != existing->element)
		return existing->element < item->element;
	if (item->group == existing->group && item->inner != existing->inner)
		return item->inner > existing->inner;
	return item->outer >= existing->outer;
}

/* Searches for the positions of the next items in turns, so that the caches' misses overlap; then the caches have what insertions read. */
static void warm(const struct ordering *o, uint32_t first, uint32_t count)
{
	const struct rb_node *nodes = o->nodes;
	uint32_t at[LANES], left = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct element *element = &o->elements[element_of(o, first + i)];
		at[i] = element->rightmost ? element->top : 0;
		left += at[i] != 0;
	}
	while (left)
		for (uint32_t i = 0; i < count; i++) {
			if (!at[i])
				continue;
			at[i] = nodes[at[i]].child[is_right(&nodes[first + i + 1].key, &nodes[at[i]].key)];
			__builtin_prefetch(&nodes[at[i]]);
			left -= !at[i];
		}
}

/* A further item of a block: it is searched below the block's highest node. */
static void attach_in_block(struct ordering *o, uint32_t number, uint32_t node)
{
	struct element *element = &o->elements[number];
	uint32_t parent = 0, at = element->top = top_of(o, number);
	bool right = false, is_first = true, is_last = true;
	while (at) {
		const struct rb_node *found = &o->nodes[at];
		uint32_t other = found->key.element;
		right = is_right(&o->nodes[node].key, &found->key);
		is_first &= other != number || !right;
		is_last &= other != number || right;
		parent = at;
		at = found->child[right];
	}
	rb_tree_attach(o->tree, node, parent, right);
	element->leftmost = is_first ? node : element->leftmost;
	element->rightmost = is_last ? node : element->rightmost;
}

static void insert_all(struct ordering *o, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (i + 2 * AHEAD < count)
			__builtin_prefetch(&o->elements[element_of(o, i + 2 * AHEAD)]);
		if (i + AHEAD < count) {
			const struct element *next = &o->elements[element_of(o, i + AHEAD)];
			__builtin_prefetch(&o->elements[next->before]);
			__builtin_prefetch(&o->elements[next->after]);
		}
		if (i % LANES == 0)
			warm(o, i, count - i < LANES ? count - i : LANES);
		uint32_t number = element_of(o, i);
		if (o->elements[number].rightmost)
			attach_in_block(o, number, i + 1);
		else
			attach_first(o, &o->elements[number], i + 1);
	}
}

void rb_blocks_init(struct rb_blocks *o, uint32_t count)
{
	rb_tree_init(&o->tree, NULL, NULL);
	vec_fini(&o->tree.nodes);
	size_t nodes = (size_t)count + 1;
	o->tree.nodes.items = memory_table(nodes, sizeof *o->tree.nodes.items);
	o->tree.nodes.count = o->tree.nodes.capacity = nodes;
}

void rb_blocks_fini(struct rb_blocks *o)
{
	rb_tree_fini(&o->tree);
}

struct blocks_read {
	const struct ordering *o;
	const struct rb_block *blocks;
	size_t block_count;
	uint32_t *sorted;
};

static void read_blocks(void *context, size_t job, unsigned worker)
{
	const struct blocks_read *read = context;
	size_t end = (job + 1) * JOB_BLOCKS < read->block_count ? (job + 1) * JOB_BLOCKS : read->block_count;
	for (size_t i = job * JOB_BLOCKS; i < end; i++) {
		uint32_t node = read->o->elements[element_of(read->o, read->sorted[read->blocks[i].first])].leftmost;
		for (uint32_t at = read->blocks[i].first; at < read->blocks[i].end; at++, node = rb_tree_next(read->o->tree, node))
			read->sorted[at] = node - 1;
	}
}

void rb_blocks_order(struct rb_blocks *of, uint32_t *sorted, const struct rb_block *blocks, size_t block_count, struct pool *pool)
{
	uint32_t count = (uint32_t)of->tree.nodes.count - 1;
	if (!block_count)
		return;
	struct ordering o = { .tree = &of->tree, .nodes = of->tree.nodes.items };
	find_neighbours(&o, count, make_elements(&o, sorted, count, blocks, block_count));
	insert_all(&o, count);
	struct blocks_read read = { &o, blocks, block_count, sorted };
	pool_run(pool, (block_count + JOB_BLOCKS - 1) / JOB_BLOCKS, read_blocks, &read);
	free(o.elements);
}
