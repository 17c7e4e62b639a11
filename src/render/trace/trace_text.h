/* A trace as lines in perf's layout, while it runs: time, duration, task, call, result. The caller passes entries and returns in order. */
#pragma once
#include "analysis/trace/tasks.h"
#include "base/writer.h"

struct trace_text_options {
	bool time, duration, comm, tasks;  /* what a line begins with; comm: with the id of the task */
	bool prefixes, zeros, unnamed;     /* see struct call_values */
	bool no_files;                     /* descriptors without names */
	bool failures_only, silent;        /* silent: nothing is printed */
	bool colours;
	bool full_time;                    /* not relative to the first event */
	bool calls;                        /* system calls are traced: other events have an empty duration */
	uint64_t least_ns;                 /* shorter calls are not printed */
	int alignment;                     /* of "= result" */
};

struct trace_text {
	struct trace_text_options options;
	struct writer *out;
	struct trace_tasks *tasks;
	uint64_t base_ns;
	bool based;
	struct trace_task *current;        /* the last that entered a call */
	struct writer line;                /* the text of a call, in memory */
	uint64_t printed;                  /* lines that count for --max-events */
};

void trace_text_init(struct trace_text *text, const struct trace_text_options *options, struct trace_tasks *tasks, struct writer *out);
void trace_text_fini(struct trace_text *text);
/* Of the first event, from which times count. */
void trace_text_begin(struct trace_text *text, uint64_t time_ns);

/* task->entry is the call, just entered. */
void trace_text_enter(struct trace_text *text, struct trace_task *task);
/* task->entry is the call that returns; its entry was not seen if `entered` is 0. Returns whether a line was printed. */
bool trace_text_leave(struct trace_text *text, struct trace_task *task, uint64_t left, int64_t result);
/* The same for a call whose entry and return come together. */
bool trace_text_call(struct trace_text *text, struct trace_task *task, uint64_t left, int64_t result);
/* Another event: prints what is before its text; the caller prints the text. */
void trace_text_event(struct trace_text *text, struct trace_task *task, uint64_t time_ns);
/* The start of a line: time, duration if it is known, task. */
void trace_text_head(struct trace_text *text, const struct trace_task *task, uint64_t time_ns, bool timed, uint64_t duration_ns);
void trace_text_lost(struct trace_text *text, uint64_t count);
