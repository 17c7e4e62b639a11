/* perf looks up the row of a sample in a tree; if the comparison of rows is not a total order, it may miss an existing row and add another.
 * This reproduces that from a log of the additions, only for rows that can be missed. Comparisons without a total order: differences of
 * addresses that are too far apart, symbols of several modules compared with addresses, columns that distinguish tallies without
 * ordering them. */
#pragma once
#include "analysis/compat/entry_order.h"

/* Decides, before samples are read, whether additions are logged. */
void replay_decide(struct profile *profile);
/* Makes the call chains of a row from tallies, whose nodes are the stacks. NULL: no chains. */
struct replay_chains {
	struct chain_tree *(*make)(void *context, const struct hist *hist, const struct tally *tallies, uint32_t count);
	void *context;
};

/* Makes hist->tree, which has the shape of perf's tree of keys, and replaces the entries by its rows; a row that was missed becomes two. */
void replay_hist(const struct profile *profile, struct hist *hist, const struct entry_order *order, const struct replay_chains *chains);
