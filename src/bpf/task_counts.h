/* Counts what tasks do (time on a CPU, switches, migrations, page faults) without an event for each: BPF programs at the kernel's task
 * switches, forks and ends add to a sum for each task of a list, which an iterator makes; page faults come from one event for each CPU.
 * Values are those of perf's software events (docs/decisions/019). Knows no user's event and no output.
 *
 *   task_counts_open → task_counts_leave_out → task_counts_switch → task_counts_read, sum → task_counts_close */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/vec.h"
#include "os/cpus.h"

enum task_fault { TASK_FAULT_ANY, TASK_FAULT_MINOR, TASK_FAULT_MAJOR, TASK_FAULTS };

struct task_counts_options {
	bool follow;                 /* count what a task forks with it */
	bool faults[TASK_FAULTS];    /* which are counted */
};

/* Of a task and what it forked; shared with the programs. */
struct task_sum {
	uint64_t runtime_ns, switches, migrations, faults[TASK_FAULTS];
};

/* As the iterator writes it. */
struct task_found {
	int32_t tid, tgid;
	uint32_t flags, slot;        /* flags: PF_… of the kernel */
	char comm[16];
};

enum { TASK_PROGRAMS = 6 };

struct task_counts {
	int tasks, cpu_states, control_map, sum_map;       /* maps */
	int programs[TASK_PROGRAMS], links[TASK_PROGRAMS];
	int fault_programs[TASK_FAULTS];
	VEC(int) fault_counters;
	struct cpus cpus;
	VEC(struct task_found) list; /* the tasks, by process and thread id */
	volatile struct task_sum *sums; /* by slot, mapped */
	volatile uint32_t *control;  /* mapped: on, last slot */
	uint32_t slots;
};

/* Lists all tasks. Fails, without a change of the system, where the kernel lacks something: the caller opens events then. */
int task_counts_open(struct task_counts *counts, const struct task_counts_options *options, struct error *err);
/* A task that is not in the list and was forked by this process since is not counted. */
void task_counts_leave_out(struct task_counts *counts, pid_t pid);
void task_counts_switch(struct task_counts *counts, bool on);
/* Brings the sums up to date. */
void task_counts_read(struct task_counts *counts);
/* index: of the list. */
struct task_sum task_counts_sum(const struct task_counts *counts, size_t index);
/* The number of tasks that could not be followed. */
uint64_t task_counts_lost(const struct task_counts *counts);
/* The number of switches between tasks that the kernel did not report, and the ns in which they were: it is unknown how much of that time
 * a task ran. The task that left at its end has it, if a counted one ran at its beginning. */
uint64_t task_counts_missed(const struct task_counts *counts, uint64_t *ns);
void task_counts_close(struct task_counts *counts); /* accepts a zeroed one */
