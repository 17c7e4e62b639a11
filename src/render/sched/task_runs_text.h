/* The runs of tasks and their sums as perf's script task-analyzer prints them: lines, or fields between semicolons. */
#pragma once
#include "analysis/sched/task_runs.h"
#include "base/writer.h"

enum task_runs_unit { RUNS_MICROSECONDS, RUNS_MILLISECONDS, RUNS_NANOSECONDS };

struct task_runs_style {
	enum task_runs_unit unit;           /* of lengths; NANOSECONDS: points in time have nine digits, else six */
	bool extended;                 /* all times between runs, not only from out to in */
	bool sums_extended;            /* the longest times between runs */
	bool csv, sums_csv;            /* semicolons */
	bool colours;                  /* lines: thread ids that are process ids are grey */
};

void task_runs_print_heading(const struct task_runs_style *style, struct writer *out);
/* name: instead of the comm. colour: an escape sequence, or NULL. */
void task_runs_print_run(const struct task_runs_style *style, const struct run *run, const char *name, const char *colour,
	struct writer *out);
/* names: of each sum. */
void task_runs_print_sums(const struct task_runs_style *style, const struct run_sum *sums, size_t count, const char *const *names,
	struct writer *out);
