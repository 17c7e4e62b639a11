/* Merges rows that have different addresses and show the same text, and their call trees. Internal to the profile. */
#pragma once
#include "analysis/entry/entry.h"

bool collapse_needed(const struct profile *profile);
/* Before entries are ordered. */
void collapse_hists(const struct profile *profile, struct folded *folded);

/* Call trees of entries that are merged: the tree of the first is unchanged; the chains of others are added to it frame by frame, matched
 * by address alone, and new frames have no names. This is perf's behaviour. */
struct join_node;

struct chain_joiner {
	const struct profile *profile;
	VEC(struct join_node) nodes;
	VEC(uint32_t) roots;                /* by entry; 0: no tree */
	/* Of the tree being made: */
	VEC(struct chain_node) tree;
	VEC(uint32_t) places, order;
	VEC(struct branch_marks) marks;     /* of places */
};

void chain_joiner_init(struct chain_joiner *joiner, const struct profile *profile);
void chain_joiner_fini(struct chain_joiner *joiner);
/* Adds the complete tree of one more entry with that number; NULL: it has no tree. */
void chain_joiner_add(struct chain_joiner *joiner, uint32_t number, const struct chain_tree *tree);
/* The part above the threshold, as a report shows it; NULL: empty. */
struct chain_tree *chain_joiner_tree(struct chain_joiner *joiner, uint32_t number, uint64_t min_hit);
