/* Rows with equal sums are compared by the depth of their chains within a thread, and by name between threads. Together this is no total
 * order: which of them precedes, the shape of perf's output tree decides. */
#pragma once
#include "analysis/compat/entry_order.h"

/* Puts hist->entries, which are in order of their keys, into the order of perf's output tree. */
void tree_order_entries(const struct profile *profile, struct hist *hist, const struct entry_order *order);
