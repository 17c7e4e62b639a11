/* perf finds the row of a sample in a tree, and where the rows' comparison is no proper order, it may miss a row that is there and
 * begin another. This does the same once more, from a log of the additions: only for rows that can be missed.
 * Comparisons that are no order: differences of addresses too far apart, symbols of several modules compared with addresses,
 * columns that tell tallies apart without ordering them. */
#pragma once
#include "analysis/compat/entry_order.h"

/* Before reading: whether additions are logged. */
void replay_decide(struct profile *profile);
/* Makes the call chains of a row from its tallies, whose nodes are the stacks. NULL: none. */
struct replay_chains {
	struct chain_tree *(*make)(void *context, const struct hist *hist, const struct tally *tallies, uint32_t count);
	void *context;
};

/* Makes hist->tree, the entries as perf's tree of keys has them, and lists them so; rows that were missed are split in two. */
void replay_hist(const struct profile *profile, struct hist *hist, const struct entry_order *order, const struct replay_chains *chains);
