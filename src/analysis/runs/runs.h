/* Repeated measurements of two programs, A and B: for each counter its values in the runs of both, and whether they differ by more than
 * noise. Independent of who measured, and of formats. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "analysis/table/table.h"
#include "base/arena.h"
#include "base/statistics.h"
#include "base/vec.h"

enum run_side { RUN_A, RUN_B, RUN_SIDES };

/* Smaller changes of a median, as a part of it, are not marked: the environment of two commands is never quite the same. */
#define RUNS_MARGIN 0.005

struct run_series {
	const char *name, *unit;          /* unit "": a plain number */
	VEC(double) values[RUN_SIDES];
	/* Filled by runs_compare: */
	double median[RUN_SIDES], mad[RUN_SIDES];
	double change;                    /* of the median, as a part of A's; infinite from 0 */
	struct interval interval;         /* 95 %, by bootstrap */
	double probability;               /* that noise is as large: ranks (Mann-Whitney), corrected for all series (Holm) */
	bool compared;                    /* both sides have at least two values */
	bool changed;
};

struct runs {
	VEC(struct run_series) list;      /* in order of their first value */
	struct arena arena;
};

void runs_fini(struct runs *runs); /* accepts a zeroed struct */
/* Adds a value of a counter; texts are copied. Values that are not finite, and those of more than 4096 counters, are ignored. */
void runs_add(struct runs *runs, enum run_side side, const char *name, const char *unit, double value);
void runs_compare(struct runs *runs);
/* The largest change, up or down, as a part of A's median, that is more than noise; 0: no counter has changed. */
double runs_largest(const struct runs *runs);

/* The comparison as a table, a row for each counter. Borrows *runs. */
struct runs_results {
	struct results results;
	struct table table;
	struct table_fact facts[RUN_SIDES];
};
/* names: of A and B. */
void runs_results_init(struct runs_results *results, const struct runs *runs, const char *const names[RUN_SIDES]);
