/* A comparison of profiles as tables: one for each event of the baseline, a row for each row that is shown. Knows no format. */
#pragma once
#include "analysis/compare/significance.h"
#include "analysis/table/table.h"

struct diff_results {
	struct results results;
	struct arena arena;
};

/* Borrows *diff and, unless NULL, *significance, which adds its columns. paths: by file. */
void diff_results_init(struct diff_results *results, const struct diff *diff, const struct significance *significance,
	const char *const *paths);
void diff_results_fini(struct diff_results *results); /* accepts a zeroed struct */
