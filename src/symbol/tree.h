/* A red-black tree over small integers, by the textbook (Cormen et al., "Introduction to Algorithms", ch. 13), whose only
 * purpose is its shape: where symbols overlap, which one perf finds depends on the path through such a tree. Knows no
 * key. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Nodes are 1 .. capacity; 0 is none. */
struct tree {
	uint32_t *left, *right, *parent;
	uint8_t *red;
	uint32_t root;
};

void tree_init(struct tree *tree, size_t capacity);
void tree_fini(struct tree *tree);
/* Hangs a new node below parent (0: it is the root), on the left or the right, where there is none yet; then rebalances. */
void tree_insert(struct tree *tree, uint32_t node, uint32_t parent, int on_left);
void tree_erase(struct tree *tree, uint32_t node);
