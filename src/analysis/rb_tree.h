/* A red-black tree into which items are put one by one, as perf's are: where a comparison is no proper order, its shape decides
 * what is found and in what order. Insertion as in Cormen et al., "Introduction to Algorithms", ch. 13; nothing is removed. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

/* Where item belongs as seen from existing: < 0 left of it (before), > 0 right of it, 0: it is the same. */
typedef int64_t rb_side(void *context, const void *item, const void *existing);

struct rb_node {
	void *item;
	uint32_t parent, child[2]; /* 0: none */
	bool red;
};

struct rb_tree {
	VEC(struct rb_node) nodes; /* from 1 */
	uint32_t root;
	rb_side *side;
	void *context;
};

void rb_tree_init(struct rb_tree *tree, rb_side *side, void *context);
void rb_tree_fini(struct rb_tree *tree);

/* The item that was found to be the same, or NULL where item itself was added. */
void *rb_tree_put(struct rb_tree *tree, void *item);
/* The items from left to right: room for tree->nodes.count - 1. Returns how many. */
size_t rb_tree_items(const struct rb_tree *tree, void **items);

/* Orders items in place as a tree of all of them has them. */
void rb_order(void **items, size_t count, rb_side *side, void *context);
