/* The call chains of one entry as a compressed trie, for display below its row. */
#pragma once
#include <stdint.h>

#include "analysis/stack/branch_history.h"

struct chain_node {
	uint64_t hit, children_hit;          /* period of the chains that end here; of the chains that continue */
	uint32_t count, children_count;      /* the same in samples */
	uint32_t parent;                     /* index; the root is its own parent */
	uint32_t first_place, place_count;   /* index and count of its frames in chain_tree.places */
	uint32_t first_child, child_count;   /* index and count in chain_tree.order: the children above the threshold, sorted */
};

struct chain_tree {
	struct chain_node *nodes;            /* nodes[0]: the root, without frames */
	uint32_t count;
	uint32_t *places;
	struct branch_marks *marks;          /* by place; NULL: not collected */
	uint32_t *order;
	/* FLAT and FOLDED: the nodes at which chains end, sorted. */
	uint32_t *ends;
	uint32_t end_count;
};

static inline uint64_t chain_total(const struct chain_node *node)
{
	return node->hit + node->children_hit;
}
