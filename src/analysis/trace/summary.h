/* The summary of a trace: a row for each thread or cgroup, or one for all, below it a row for each of its calls; and the same as a table
 * for --format. */
#pragma once
#include "analysis/table/table.h"
#include "analysis/trace/sums.h"
#include "analysis/trace/tasks.h"

enum summary_mode { SUMMARY_BY_THREAD, SUMMARY_IN_TOTAL, SUMMARY_BY_CGROUP };

/* A thread, or the threads that are added up. */
struct summary_thread {
	const struct trace_task *task; /* the first one */
	int32_t id;                  /* of its rows, in call_sum.tid */
	uint64_t events;             /* entries, returns and other events */
	uint64_t major_faults, minor_faults, runtime_ns;
	size_t first, count;         /* its calls: rows.items[first ...] */
};

/* name of a number: borrowed until the next call. */
typedef const char *call_namer(void *context, uint32_t number);
/* The path of a cgroup, borrowed until the end; NULL: not known. */
typedef const char *cgroup_namer(void *context, uint64_t id);

struct trace_summary {
	enum summary_mode mode;
	VEC(struct summary_thread) threads; /* by events, ascending; then by id */
	VEC(const struct call_sum *) rows;  /* of a thread by total time, descending; then by number */
	const struct call_sums *sums;
	struct call_sums merged;     /* of added threads */
	uint64_t events;             /* of all threads */
	bool scheduled;              /* the tasks have run times */
	call_namer *name;
	cgroup_namer *cgroup_name;
	void *context;               /* of both */
};

/* Borrows tasks and sums. total: all events; 0: the sum over threads. Threads without an event have no row. mode, the namers and their
 * context are the caller's. */
void trace_summary_init(struct trace_summary *summary, const struct trace_tasks *tasks, const struct call_sums *sums, uint64_t total);
void trace_summary_fini(struct trace_summary *summary);

enum { SUMMARY_COLUMNS = 9 };

struct trace_results {
	struct results results;
	struct table table;
	struct table_column columns[SUMMARY_COLUMNS];
};
void trace_results_init(struct trace_results *results, const struct trace_summary *summary);
