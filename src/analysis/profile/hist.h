/* The entries of one event's report, in order, with widths. */
#pragma once
#include "analysis/entry/entry.h"

/* First: sorts entries by their keys, where an event group is matched or keys have no total order. hist_add then appends others. */
void hist_order(const struct profile *profile, struct hist *hist);
void hist_add(const struct profile *profile, struct hist *hist, struct entry *entry);
/* Then: sorts for output, fills widths. */
void hist_sort(const struct profile *profile, struct hist *hist);
/* Fills widths from the entries that pass all filters. */
void hist_widths(const struct profile *profile, struct hist *hist);
/* In a report's line. */
unsigned column_width(const struct profile *profile, const struct hist *hist, const struct column *column);
