/* Whether the changes of a comparison are more than noise. Each recording is cut into time slices; the spread of a row's share between
 * slices gives the interval of its change by block bootstrap, and a test. A row has changed if its change exceeds a margin by the test of
 * its slices (Welch) and by that of its samples (two proportions), after Holm's correction for all rows of the event. The margin is for
 * what no slices show: two runs of one build differ in addresses and in the phase of sampling. Random choices have a fixed seed. */
#pragma once
#include "analysis/compare/diff.h"
#include "base/statistics.h"

enum { SIGNIFICANCE_SLICES = 32 };
#define SIGNIFICANCE_MARGIN 0.5 /* percentage points */

struct significance_value {
	struct interval interval;  /* 95 %, of the change of the share in percentage points */
	double probability;        /* that noise is as large, after correction */
	bool changed;
};

struct significance {
	const struct diff *diff;
	struct significance_value ***values; /* by event, by row, by file; [0] of the last is not used */
	size_t least_slices;       /* of all recordings: fewer than 4 can show no change */
	struct arena arena;
};

/* Borrows *diff, whose options name a column of times. */
void significance_init(struct significance *significance, const struct diff *diff);
void significance_fini(struct significance *significance); /* accepts a zeroed struct */

/* The largest change, up or down, in percentage points that is more than noise; 0: no row has changed. */
double significance_largest(const struct significance *significance);
