/* A recording as lanes of a timechart: what each CPU and each task did over time, by the states of tasks (analysis/sched/states.h), the
 * idle states and clocks of CPUs, wake-ups, and input and output. Knows no picture. Serial; memory is bounded by CPUs and tasks, not by
 * the length of the recording. */
#pragma once
#include "analysis/sched/events.h"
#include "analysis/timechart/io_bars.h"
#include "analysis/timechart/lane.h"

/* Kinds of bars of tasks and, the first and the last, of CPUs. */
enum { TIMECHART_RUNNING, TIMECHART_WAITING /* for a CPU */, TIMECHART_BLOCKED, TIMECHART_UNKNOWN };

enum { TIMECHART_CLOCKS_MAX = 4096, TIMECHART_WAKES_MAX = 1 << 16 };

struct timechart_clock {
	uint64_t time;
	uint32_t khz;
};

struct timechart_cpu {
	struct lane running;       /* about: the task */
	struct lane idle;          /* kind: depth of the idle state, at most LANE_KINDS - 1; about: the state */
	uint64_t known_to;         /* end of its last turn; 0: none */
	uint64_t idle_since;       /* 0: not idle */
	uint32_t idle_state;
	VEC(struct timechart_clock) clocks;
	uint64_t clock_grain;      /* ns: changes that follow sooner replace the one before */
};

struct timechart_task {
	struct lane lane;          /* about: of running: the CPU; of blocked: enum wait_reason */
	struct io_bars io;
	const char *name;          /* NULL: no turn and no call */
	int32_t parent;
	uint64_t first, last;      /* ns: of its bars */
	uint64_t woken;            /* the grain of its last wake-up, and the waker */
	uint32_t waker;
	bool chosen;               /* passes the filter of names and ids */
};

struct timechart_wake {
	uint64_t time;
	uint32_t task;
	uint32_t waker;            /* STATES_NO_TASK: an interrupt, or unknown */
};

struct timechart_options {
	const char *const *chosen; /* names and thread ids of tasks; none: all */
	size_t chosen_count;
	unsigned least_tasks;      /* shorter tasks are shown, too, until there are so many; 0: no task */
	unsigned pixels;           /* width of the picture: bars are joined below about a pixel of it, or finer in few lanes */
	struct io_options io;
	struct symbols *symbols;   /* for the reasons of waits, if the recording has call chains; NULL: none */
};

struct timechart_layout;

struct timechart {
	struct timechart_options options;
	struct sched_reader reader;
	VEC(struct timechart_cpu) cpus;
	VEC(struct timechart_task) tasks;   /* by index of reader.states.tasks */
	VEC(struct timechart_wake) wakes;
	uint64_t wake_grain;       /* ns: of more wake-ups of a task by one waker within it, one is stored */
	VEC(struct timechart_layout) layouts; /* by event */
	VEC(uint32_t) shown;       /* after timechart_finish: tasks, by parent and thread id */
	uint64_t first, last;      /* times of samples */
	uint64_t calls;            /* of input and output; 0: the chart shows the scheduler's events */
	uint32_t most_khz;
};

void timechart_init(struct timechart *chart, const struct timechart_options *options);
void timechart_fini(struct timechart *chart);
struct sink timechart_sink(struct timechart *chart);
/* Ends what lasts until the end, and chooses the tasks. */
void timechart_finish(struct timechart *chart);
/* The system calls that the chart shows, for recorders. */
size_t timechart_call_count(void);
const char *timechart_call_name(size_t index);
