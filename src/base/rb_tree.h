/* A red-black tree with insertion only, like perf's: if a comparison is not a strict weak order, the shape of the tree decides which items
 * are found and in what order. Insertion as in Cormen et al., "Introduction to Algorithms", ch. 13. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

/* The position of item relative to existing: < 0 left (before), > 0 right, 0 equal. */
typedef int64_t rb_side(void *context, const void *item, const void *existing);

/* For a user who compares nodes itself, and attaches them. */
struct rb_key {
	uint32_t element, group, inner, outer;
};

struct rb_node {
	union {
		void *item;
		struct rb_key key;
	};
	uint32_t parent, child[2]; /* 0: none */
	bool red;
};

struct rb_tree {
	VEC(struct rb_node) nodes; /* numbered from 1 */
	uint32_t root;
	rb_side *side;
	void *context;
};

void rb_tree_init(struct rb_tree *tree, rb_side *side, void *context);
void rb_tree_fini(struct rb_tree *tree);

/* Inserts item. Returns the equal item of the tree if it exists, otherwise NULL. */
void *rb_tree_put(struct rb_tree *tree, void *item);
/* Inserts a node, whose item or key is set, as that child of another one, which has no such child; parent 0: the tree is empty. */
void rb_tree_attach(struct rb_tree *tree, uint32_t node, uint32_t parent, bool right);
/* The leftmost node; 0: the tree is empty. */
uint32_t rb_tree_first(const struct rb_tree *tree);
/* The node to the right of a node; 0: it is the last one. */
uint32_t rb_tree_next(const struct rb_tree *tree, uint32_t node);
/* Stores the items from left to right; items has room for tree->nodes.count - 1. Returns their number. */
size_t rb_tree_items(const struct rb_tree *tree, void **items);

/* Sorts items in place into the order of a tree into which they are inserted one by one. */
void rb_order(void **items, size_t count, rb_side *side, void *context);
