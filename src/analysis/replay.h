/* perf finds the row of a sample in a tree, and where the rows' comparison is no proper order, it may miss a row that is there and
 * begin another. This does the same once more, from a log of the additions: only for rows that can be missed.
 * Comparisons that are no order: differences of addresses too far apart, symbols of several modules compared with addresses,
 * columns that tell cells apart without ordering them. */
#pragma once
#include "analysis/entry_order.h"

/* Before reading: whether additions are logged. */
void replay_decide(struct profile *profile);
/* After the merge: the workers' logs become one, by clock. */
void replay_gather(struct profile *profile);

/* Makes hist->tree, the entries as perf's tree of keys has them, and lists them so; rows that were missed are split in two. */
void replay_hist(struct profile *profile, struct hist *hist, const struct entry_order *order);
