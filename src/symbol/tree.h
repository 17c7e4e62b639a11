/* A red-black tree over small integers (Cormen et al., "Introduction to Algorithms", ch. 13) that exists for its shape: where symbols
 * overlap, the path through such a tree determines which one perf finds. Knows no key. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Nodes are 1 .. capacity; 0 means no node. */
struct tree {
	uint32_t *left, *right, *parent;
	uint8_t *red;
	uint32_t root;
};

void tree_init(struct tree *tree, size_t capacity);
void tree_fini(struct tree *tree);
/* Inserts a node as the left or right child of parent (0: as the root), which has none there, and rebalances. */
void tree_insert(struct tree *tree, uint32_t node, uint32_t parent, int on_left);
void tree_erase(struct tree *tree, uint32_t node);
