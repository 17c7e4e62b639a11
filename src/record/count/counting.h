/* Counters that are read at intervals: a target, the command that may be started for it, and a counter per event, CPU and thread without
 * a ring. An event that the machine cannot count does not end the run: its state says so. Knows no aggregation and no output.
 *
 * Order of calls: counting_open; counting_start; counting_wait and counting_read as often as wanted; counting_close, which is due on every
 * path after counting_open. Signals that would end the process are blocked in between: one run at a time. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "event/event.h"
#include "record/acquire/signals.h"
#include "record/acquire/target.h"
#include "record/acquire/workload.h"

struct counting_options {
	struct target_options target;
	bool all_threads;                /* every thread of the machine, each on its own */
	struct events *events;           /* borrowed; names may get a modifier */
	const char *const *command;      /* ends with NULL; NULL: no command */
	bool no_inherit, all_user, all_kernel;
	int delay_ms;                    /* before the counters are enabled; -1: they stay disabled */
};

enum counting_state {
	COUNTING_OPEN,
	COUNTING_UNSUPPORTED,            /* kernel or machine cannot count it */
	COUNTING_LAME,                   /* it is in a group of which a member is unsupported */
};

struct count {
	uint64_t value, enabled, running; /* nanoseconds, except value */
};

struct counting_slot {
	int fd;                          /* -1: the thread or CPU went, or the event is no counter */
	uint32_t event;
	int32_t cpu;                     /* -1: any */
	uint32_t thread;                 /* index in target.threads */
};

struct counting {
	struct events *events;
	struct counting_options options;
	struct target target;
	struct signals signals;
	struct workload workload;
	VEC(struct counting_slot) slots; /* by event, then CPU, then thread */
	VEC(uint8_t) states;             /* of each event: enum counting_state */
	VEC(int) errors;                 /* of each event: errno of its open */
	uint64_t start_ns, end_ns;       /* CLOCK_MONOTONIC; end_ns 0: runs */
	uint64_t user_ns, system_ns;     /* CPU time of the command and its descendants, once it has ended */
	uint64_t user_before_ns, system_before_ns;
	bool ended;                      /* the command or all threads have ended, or a signal asks for the end */
};

/* The values of all slots at one time. */
struct counts {
	VEC(struct count) list;
};

int counting_open(struct counting *counting, const struct counting_options *options, struct error *err);
/* Enables the counters and lets the command run. */
int counting_start(struct counting *counting, struct error *err);
/* Waits for the end (`ended`) or for the time: milliseconds, -1: without limit. fd: a descriptor of the caller that ends the wait, too; -1.
 * Returns whether fd can be read. */
bool counting_wait(struct counting *counting, int timeout_ms, int fd);
void counting_switch(struct counting *counting, bool on);
/* Appends the present values of all slots to an empty list. */
void counting_read(struct counting *counting, struct counts *counts);
/* The command is asked to end and waited for; end_ns and the CPU times are final. */
void counting_end(struct counting *counting, bool stop);
void counting_close(struct counting *counting);
uint64_t counting_now_ns(void);
