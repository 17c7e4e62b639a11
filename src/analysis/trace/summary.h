/* The summary of a trace: a row for each thread, below it a row for each of its calls; and the same as a table for --format. */
#pragma once
#include "analysis/table/table.h"
#include "analysis/trace/sums.h"
#include "analysis/trace/tasks.h"

struct summary_thread {
	const struct trace_task *task;
	uint64_t events;             /* entries, returns and other events */
	size_t first, count;         /* its calls: rows.items[first ...] */
};

/* name of a number: borrowed until the next call. */
typedef const char *call_namer(void *context, uint32_t number);

struct trace_summary {
	VEC(struct summary_thread) threads; /* by events, ascending; then by id */
	VEC(const struct call_sum *) rows;  /* of a thread by total time, descending; then by number */
	const struct call_sums *sums;
	uint64_t events;             /* of all threads */
	bool scheduled;              /* the tasks have run times */
	call_namer *name;
	void *context;
};

/* Borrows tasks and sums. total: all events; 0: the sum over threads. Threads without an event have no row. */
void trace_summary_init(struct trace_summary *summary, const struct trace_tasks *tasks, const struct call_sums *sums, uint64_t total,
	call_namer *name, void *context);
void trace_summary_fini(struct trace_summary *summary);

struct trace_results {
	struct results results;
	struct table table;
};
void trace_results_init(struct trace_results *results, const struct trace_summary *summary);
