/* The entries of one event's report, in order, with widths. */
#pragma once
#include "analysis/entry/entry.h"

/* First: puts entries in the order of their keys. hist_add then adds others behind. */
void hist_order(const struct profile *profile, struct hist *hist);
void hist_add(const struct profile *profile, struct hist *hist, struct entry *entry);
/* Then: sorts for output, fills widths. */
void hist_sort(const struct profile *profile, struct hist *hist);
/* Fills widths from the entries that no filter took. */
void hist_widths(const struct profile *profile, struct hist *hist);
/* In a report's line. */
unsigned column_width(const struct profile *profile, const struct hist *hist, const struct column *column);
