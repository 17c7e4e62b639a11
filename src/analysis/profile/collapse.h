/* Rows that were told apart by address and show the same text become one, with one call tree. Internal to the profile. */
#pragma once
#include "analysis/entry/entry.h"

bool collapse_needed(const struct profile *profile);
/* Before entries are put in order. */
void collapse_hists(const struct profile *profile, struct folded *folded);

/* Call trees of entries that become one: that of the first stays as it is; the chains of others are hung into it frame by frame,
 * matched by address alone, and what is new has lost its names. That is what perf does. */
struct join_node;

struct chain_joiner {
	const struct profile *profile;
	VEC(struct join_node) nodes;
	VEC(uint32_t) roots;                /* by entry; 0: none */
	/* Of the tree being made: */
	VEC(struct chain_node) tree;
	VEC(uint32_t) places, order;
	VEC(struct branch_marks) marks;     /* of places */
};

void chain_joiner_init(struct chain_joiner *joiner, const struct profile *profile);
void chain_joiner_fini(struct chain_joiner *joiner);
/* tree: whole, of one more entry of that number; NULL: it has none. */
void chain_joiner_add(struct chain_joiner *joiner, uint32_t number, const struct chain_tree *tree);
/* What is above the threshold, as a report shows it; NULL: nothing. */
struct chain_tree *chain_joiner_tree(struct chain_joiner *joiner, uint32_t number, uint64_t min_hit);
