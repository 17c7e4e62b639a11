/* How entries compare by the columns of a report. */
#pragma once
#include "analysis/entry/entry.h"

/* Order of output. > 0: a first. */
int64_t entries_sort(const struct profile *profile, const struct hist *hist, const struct entry *a, const struct entry *b);
int64_t entries_compare_measure(const struct profile *profile, const struct hist *hist, enum measure measure, const struct entry *a,
	const struct entry *b);
/* Order of keys, total: > 0: a first. */
int64_t entries_compare(const struct profile *profile, const struct entry *a, const struct entry *b);
