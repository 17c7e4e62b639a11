/* Counts → a table: a row for each event and aggregate (CPU, core, thread … or everything), scaled for the time that the counter did not
 * run, with the metric that belongs to it. Values are typed; text is the renderers'. Knows no counter and no command. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "event/event.h"

enum stat_state { STAT_COUNTED, STAT_NOT_COUNTED, STAT_NOT_SUPPORTED };

struct stat_count {
	uint64_t value, enabled, running;
	bool absent;             /* there is no counter to read */
};

/* Where a counter counts. */
struct stat_counter {
	uint32_t event;
	int32_t cpu;             /* -1: any */
	uint32_t thread;
};

/* Where a count belongs. */
struct stat_place {
	uint32_t event, aggregate;
};

/* How much attention a share deserves. */
enum stat_level { STAT_LEVEL_NONE, STAT_LEVEL_LOW, STAT_LEVEL_MIDDLE, STAT_LEVEL_HIGH, STAT_LEVEL_GOOD };

struct stat_metric {
	bool known;
	double value;
	uint8_t decimals;        /* of the value in a table */
	bool percent;            /* the value is a percentage */
	bool narrow;             /* perf prints the value one column to the left */
	enum stat_level level;
	const char *unit;        /* "CPUs utilized"; static */
};

/* Mean and spread over runs. */
struct stat_spread {
	uint32_t runs;
	double mean, squares;    /* sum of squares of differences from the mean */
};

/* The middle of several runs, for distributions with outliers. Values of the counter, as stat_row.value. */
struct stat_robust {
	double mad;              /* median of the distances from the median */
	double low, high;        /* interval of confidence of the median, 95 %, by bootstrap */
};

struct stat_row {
	uint32_t event, aggregate;
	uint32_t counters;       /* how many are added up */
	enum stat_state state;
	double value;            /* of the counter, scaled; of several runs: the mean */
	uint64_t enabled, running;
	double noise_percent;    /* standard error of the mean, of several runs */
	struct stat_robust robust; /* after stat_table_robust */
	struct stat_metric metric;
};

/* What a row adds up. */
struct stat_sum {
	uint64_t value;
	bool failed;
};

struct stat_table {
	const struct events *events;
	VEC(struct stat_row) rows;            /* by event, then aggregate */
	VEC(struct stat_sum) sums;            /* of each row */
	VEC(struct stat_spread) spreads;      /* of each row */
	VEC(double) values;                   /* if `keeps`: of each run, of each row */
	uint32_t aggregates;
	/* set before the first filling: */
	bool strict;             /* an aggregate of which one counter never ran is not counted, as in perf's rows by CPU, core … */
	bool skip_zero;          /* counts of value 0 are not counted, as in perf's rows of all threads */
	bool cumulative;         /* a filling adds to the sums of the previous ones, instead of being a separate run */
	const uint32_t *merged;  /* by event: the event to whose rows its counts are added; NULL: each has its own */
	bool keeps;              /* stores the value of each run */
	bool last;               /* of several runs, rows have the last one's counts: perf averages sums of everything only */
};

void stat_table_fini(struct stat_table *table);
/* Sums counts[i] by places[i]. unsupported: of each event. scale: estimate what was missed while other events had the counter. A table that
 * has rows is filled again: each call is a run, of which the rows have the mean. */
void stat_table_fill(struct stat_table *table, const struct events *events, const bool *unsupported, uint32_t aggregates,
	const struct stat_place *places, const struct stat_count *counts, size_t count, bool scale);
/* Rows by CPU of events with the term percore get the sum of their core. cores: of each aggregate, the first one of its core. */
void stat_table_percore(struct stat_table *table, const uint32_t *cores);
/* Replaces the means of the rows by medians, with their spread and interval. The runs were stored. */
void stat_table_robust(struct stat_table *table);
/* The same for one list of values; returns the median. */
double stat_robust_of(const double *values, size_t count, struct stat_robust *robust);
/* The metric of each row. wall_ns: the time in which the counters ran. */
void stat_table_metrics(struct stat_table *table, double wall_ns);

void stat_spread_add(struct stat_spread *spread, double value);
/* The standard error of the mean; 0 with fewer than two runs. */
double stat_spread_error(const struct stat_spread *spread);
/* The error as a percentage of the mean; 0 if that is 0. */
double stat_spread_percent(const struct stat_spread *spread);
/* The clocks: events in nanoseconds to which others are related. */
bool stat_is_clock(const struct event *event);
/* A table shows it in its unit: the value times the scale of the event. */
double stat_shown(const struct stat_table *table, const struct stat_row *row);
