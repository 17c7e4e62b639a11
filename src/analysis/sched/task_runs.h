/* The runs of tasks: each stay on a CPU with the times since the run of the same task before it, and sums by task. Runs are passed on as
 * they end; one whose start or end the recording lacks is left out. Times are ns. */
#pragma once
#include "analysis/sched/events.h"

struct run {
	uint64_t in, out;
	int32_t cpu, pid, tid;
	const char *comm;              /* that the tracepoint had at `in`; valid to the end */
	bool again;                    /* the following are known: there was a run before */
	uint64_t out_in, out_out, in_in, in_out; /* from the previous out or in to this in or out */
};

struct run_sum {
	int32_t pid, tid;
	const char *comm;              /* of the last run */
	uint64_t count, total_ns, min_ns, max_ns, max_at; /* max_at: start of the first run of that length */
	bool again;                    /* the following are known */
	uint64_t out_in, out_in_at, out_out, in_in, in_out; /* the longest of each */
	uint64_t median_sum;           /* the two in the middle, added; twice the one in the middle */
};

struct task_runs_options {
	uint64_t start, stop;          /* both included: runs that lie between are counted */
	bool sums;
};

struct task_run_state;

struct task_runs {
	struct task_runs_options options;
	struct sched_reader reader;
	void *context;
	void (*run)(void *context, const struct run *run); /* NULL: only sums */
	VEC(struct task_run_state) tasks;   /* by index in the states */
	VEC(struct run_sum) sums;      /* after task_runs_finish: by tid */
};

void task_runs_init(struct task_runs *runs, const struct task_runs_options *options);
void task_runs_fini(struct task_runs *runs);
/* Makes the sums, after the session has run. */
void task_runs_finish(struct task_runs *runs);
