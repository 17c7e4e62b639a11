/* Call chains of one entry as a compressed trie: what is printed under a row. Knows not how. */
#pragma once
#include <stdint.h>

#include "analysis/branch_history.h"

struct chain_node {
	uint64_t hit, children_hit;          /* period of chains that end here; of those that go on */
	uint32_t count, children_count;      /* likewise, in samples */
	uint32_t parent;                     /* index; the root's is itself */
	uint32_t first_place, place_count;   /* the run of frames, into chain_tree.places */
	uint32_t first_child, child_count;   /* into chain_tree.order: those above the threshold, sorted */
};

struct chain_tree {
	struct chain_node *nodes;            /* [0]: the root, without frames */
	uint32_t count;
	uint32_t *places;
	struct branch_marks *marks;          /* of each place; NULL: not asked for */
	uint32_t *order;
	/* FLAT and FOLDED: the nodes where chains end, sorted. */
	uint32_t *ends;
	uint32_t end_count;
};

static inline uint64_t chain_total(const struct chain_node *node)
{
	return node->hit + node->children_hit;
}
