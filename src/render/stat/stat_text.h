/* A table of counts as text, as values separated by a character, and as a JSON object a line: the layouts are those of perf 6.12. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "analysis/stat/stat_metrics.h"
#include "analysis/stat/stat_table.h"
#include "base/writer.h"

enum stat_format { STAT_TEXT, STAT_CSV, STAT_JSON };

/* What an aggregate is. */
enum stat_grain {
	STAT_ALL, STAT_CPU, STAT_CORE, STAT_CLUSTER, STAT_CACHE, STAT_DIE, STAT_SOCKET, STAT_NODE, STAT_THREAD,
};

struct stat_style {
	enum stat_format format;
	enum stat_grain grain;
	const char *separator;           /* of STAT_CSV */
	const char *thousands;           /* separator in counts; "": none */
	const char *const *labels;       /* of each aggregate: "S0-D0-C1", "CPU0", the name of a thread; "": none is printed */
	const int32_t *tids;             /* of each aggregate if they are threads */
	const uint32_t *cores;           /* of each CPU the first one of its core, for events with the term percore; NULL: show each CPU */
	const char *const *core_labels;  /* with `cores` */
	bool repeated;                   /* the rows are means of several runs */
	bool robust;                     /* with `repeated`: they are medians instead */
	bool cgroups;                    /* some event has a cgroup */
	bool by_cgroup;                  /* events of a cgroup follow each other: its rows precede those of the next */
	bool colors;                     /* shares that deserve attention have colours; the destination is a terminal */
	bool hide_zero;                  /* leave out rows of value 0 */
	bool with_pmu;                   /* names of events have that of their PMU, except those of the cores */
	bool with_core;                  /* there are several kinds of cores: names of their events have their PMU */
	const bool *hidden;              /* of each event: leave out its rows; NULL: show all */
	const struct metric_plan *plan;  /* of the metrics that are shown with the counts; NULL: none */
	bool metric_only;                /* a line of metrics for each aggregate, without counts */
};

/* interval_ns: the time that begins each line; 0: none. prefix: begins each CSV line instead; "" for none. */
void stat_print(const struct stat_table *table, const struct stat_style *style, uint64_t interval_ns, const char *prefix,
	struct writer *out);
/* The line above metrics without counts: of a series of intervals, or of a single set. */
void stat_print_metric_names(const struct stat_table *table, const struct stat_style *style, bool intervals, struct writer *out);
/* The line above interval lines. Of counts only STAT_TEXT has one. */
void stat_print_heading(const struct stat_table *table, const struct stat_style *style, struct writer *out);
/* The times at the end of a text: elapsed_ns of each run, and of one run the CPU times of the command if with_usage. */
void stat_print_times(const struct stat_spread *elapsed_ns, bool with_usage, uint64_t user_ns, uint64_t system_ns, struct writer *out);
/* The same for the median of several runs. */
void stat_print_times_robust(const double *runs_ns, size_t count, struct writer *out);
/* --table: each run's time beside the mean. */
void stat_print_runs(const struct stat_spread *elapsed_ns, const double *runs, size_t count, struct writer *out);
