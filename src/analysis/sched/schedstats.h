/* `sched stats`: what the scheduler counted between two moments, for each CPU and each of its domains, and on average of all CPUs. Its
 * input are the rows of /proc/schedstat at the start and at the end. Meaning of the counters: Documentation/scheduler/sched-stats.rst. */
#pragma once
#include "abi/schedstat.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/vec.h"
#include "data/feature.h"

#define SCHEDSTATS_ALL UINT32_MAX /* the `cpu` of rows that are the average of all CPUs */

struct schedstat_moments {
	struct schedstat_row first, last;
	bool both;                      /* there are two */
};

struct schedstats {
	VEC(struct schedstat_moments) moments; /* of each CPU and domain */
	struct idmap by_place;
	VEC(struct schedstat_row) rows; /* after schedstats_finish: counted in between; the averages first, each CPU before its domains */
	uint64_t jiffies;               /* from the start to the end */
	uint16_t version;
	struct feature_domains domains; /* names, borrowed; may be empty */
};

/* A line of a row's report. */
enum schedstat_line_kind {
	SCHEDSTAT_COUNTER,
	SCHEDSTAT_SUCCESS,   /* of balancing: attempts that moved tasks */
	SCHEDSTAT_PULLED,    /* tasks that each of them moved, on average */
};

struct schedstat_report_line {
	const char *heading;       /* of the lines from this one on; NULL: that of the line before */
	char name[40];
	enum schedstat_line_kind kind;
	unsigned index;            /* of the counter; of the other kinds: of the first counter of its balancing */
	int base;                  /* the counter of which it is a part; -1 */
	bool interval;             /* its average distance in time is of interest */
};

enum { SCHEDSTAT_LINES_MAX = SCHEDSTAT_VALUES_MAX + 6 };

void schedstats_fini(struct schedstats *stats);
/* Adds a row; the first of a place is the start, the last one the end. */
void schedstats_add(struct schedstats *stats, const struct schedstat_row *row);
/* Computes the rows. Fails without a place that has two moments, and for rows of several versions. */
int schedstats_finish(struct schedstats *stats, struct error *err);

/* The lines of a row of this version; returns their number. */
size_t schedstat_report_lines(uint16_t version, bool domain, struct schedstat_report_line lines[static SCHEDSTAT_LINES_MAX]);
/* The value of a line. */
double schedstat_value(const struct schedstat_row *row, const struct schedstat_report_line *line);
/* The domain of a row; NULL: a CPU, or unknown. For an average, that of the first CPU which has it. */
const struct feature_domain *schedstats_domain(const struct schedstats *stats, const struct schedstat_row *row);
/* The average row of a domain or, SCHEDSTAT_NO_DOMAIN, of CPUs; NULL: it has none. */
const struct schedstat_row *schedstats_average(const struct schedstats *stats, int32_t domain);
