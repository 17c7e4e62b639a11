/* Counters that are read at intervals: a measurement without rings, with the times of its start and end and of its command. An event that
 * the machine cannot count does not end the run: its state says so. Knows no aggregation and no output.
 *
 * Order of calls: counting_open; counting_start; counting_wait and counting_read as often as wanted; counting_close, which is due on every
 * path after counting_open. Signals that would end the process are blocked in between: one run at a time. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "bpf/shared_counts.h"
#include "bpf/task_counts.h"
#include "event/event.h"
#include "record/acquire/measurement.h"
#include "record/count/latencies.h"

struct counting_options {
	struct target_options target;
	struct events *events;           /* borrowed; names may get a modifier */
	const char *const *command;      /* ends with NULL; NULL: no command */
	bool command_to_stderr;          /* the command's standard output is standard error */
	bool no_inherit, all_user, all_kernel;
	bool with_ids;                   /* read the kernel's ids of the counters */
	bool apart;                      /* as in measurement_options */
	int delay_ms;                    /* before the counters are enabled; -1: they stay disabled */
	bool latencies;                  /* sample the events with the modifier R; otherwise they count as 0 */
	enum latency_choice latency_choice;
	bool shared;                     /* all events have the modifier b: BPF programs count them by counters of CPUs that sessions share */
	const char *registry;            /* path of those counters' registry; NULL: the default */
	const uint32_t *programs;        /* ids of BPF programs that are counted while they run, instead of a target; with `shared` */
	size_t program_count;
	struct str *warnings;            /* what the user should know, a sentence a line; may be NULL */
	struct str *notes;               /* what was changed so that events could be opened, a sentence a line; may be NULL */
};

struct count {
	uint64_t value, enabled, running; /* nanoseconds, except value */
};

struct counting {
	struct measurement measurement;  /* counters.states has the state of each event */
	uint64_t start_ns, end_ns;       /* CLOCK_MONOTONIC; end_ns 0: runs */
	uint64_t user_ns, system_ns;     /* CPU time of the command and its descendants, once it has ended */
	uint64_t user_before_ns, system_before_ns;
	VEC(struct shared_counts) shared; /* of events with the modifier b; by program, or one */
	VEC(uint32_t) shared_index;      /* by event: its index there; UINT32_MAX: it is not shared; empty: no event is */
	struct task_counts by_task;      /* of events that are counted without counters; its list is the target's */
	bool has_task_counts;
	struct latencies latencies;      /* empty: no event is sampled */
	enum latency_choice latency_choice;
	VEC(uint64_t) group_values;      /* of kernel groups, while counters are read */
	VEC(uint32_t) group_next;        /* by counter: where the next value of its group is */
};

/* The values of all counters of the measurement at one time, in its order. */
struct counts {
	VEC(struct count) list;
};

int counting_open(struct counting *counting, const struct counting_options *options, struct error *err);
/* Lets the command run, with the counters enabled unless the delay is not over. */
int counting_start(struct counting *counting, struct error *err);
/* Waits for the end (counting_ended) or for the time: milliseconds, -1: without limit. Returns the bits of measurement_watch, which end the
 * wait, too; the caller's are below COUNTING_BITS. */
enum { COUNTING_BITS = 31 };
uint32_t counting_wait(struct counting *counting, int timeout_ms);
static inline bool counting_ended(const struct counting *counting)
{
	return counting->measurement.ended;
}
/* Starts or stops all counters, or those of one event (index). */
void counting_switch(struct counting *counting, bool on);
void counting_switch_event(struct counting *counting, uint32_t event, bool on);
/* Appends the present values of all counters to an empty list. */
void counting_read(struct counting *counting, struct counts *counts);
/* The number of threads that began meanwhile, and that shared counters do not count. */
uint64_t counting_lost(const struct counting *counting);
/* The number of switches between threads that the kernel did not report to shared counters, and the time, in ns of all CPUs, whose counts
 * may therefore be of another thread. */
uint64_t counting_missed(const struct counting *counting, uint64_t *ns);
/* The index of a counter's thread among those of the target. */
uint32_t counting_thread(const struct counting *counting, size_t counter);
/* The command is asked to end if `stop`, and waited for; end_ns and the CPU times are final. */
void counting_end(struct counting *counting, bool stop);
void counting_close(struct counting *counting);
