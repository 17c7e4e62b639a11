/* A finished profile as tables: one for each event that is shown, with the columns of the report and a row for each entry; rows of a
 * hierarchy below each other; the callers of an entry as a table of the row. Knows no format. */
#pragma once
#include "analysis/entry/entry.h"
#include "analysis/table/table.h"
#include "base/arena.h"

struct profile_results {
	struct results results;
	struct arena arena;
};

/* Borrows the profile. lost_samples: as the recording counts them. */
void profile_results_init(struct profile_results *results, const struct profile *profile, uint64_t lost_samples);
void profile_results_fini(struct profile_results *results); /* accepts a zeroed struct */
