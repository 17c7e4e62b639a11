/* How entries compare by the columns of a report. */
#pragma once
#include "analysis/entry/entry.h"

/* Order of output. > 0: a first. */
int64_t entries_sort(const struct profile *profile, const struct hist *hist, const struct entry *a, const struct entry *b);
int64_t entries_compare_measure(const struct profile *profile, const struct hist *hist, enum measure measure, const struct entry *a,
	const struct entry *b);
/* Of which members of the event group a measure is compared: the first one, then each from 1 on. */
struct measure_order {
	uint32_t first, end;
};
struct measure_order measure_order(const struct profile *profile, const struct hist *hist);
uint64_t entry_member_measure(const struct entry *entry, uint32_t member, enum measure measure);
/* Order of keys, total: > 0: a first. */
int64_t entries_compare(const struct profile *profile, const struct entry *a, const struct entry *b);
