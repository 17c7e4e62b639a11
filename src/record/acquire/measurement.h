/* A running measurement: a target, the command that may be started for it, opened events, their rings if the caller wants rings, and one
 * wait for all that concerns them: records in a ring, signals, the end of the command, of the tasks of a ring, changes of CPUs. What is
 * done with rings and counts is the caller's. Knows no record, no file and no output.
 *
 * Order of calls: measurement_open; measurement_map, unless only counts are wanted, which counter_read returns for the counters of the
 * list; measurement_start; measurement_wait until measurement_over; measurement_stop; measurement_close. After measurement_open,
 * measurement_close is due on every path, also if a call failed.
 * From open to close, signals that would end the process are blocked and read here, so a process has one measurement at a time. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "os/bpf.h"
#include "record/acquire/configure.h"
#include "record/acquire/counters.h"
#include "record/acquire/cpu_changes.h"
#include "record/acquire/signals.h"
#include "record/acquire/target.h"
#include "record/acquire/trace.h"
#include "record/acquire/workload.h"

struct measurement_options {
	struct sampling sampling;        /* without samples: no_inherit, all_user, all_kernel, delay_ms alone are read */
	bool counts;                     /* no samples: events that are not supported are states (counters_open_partly) */
	bool with_ids;                   /* of counts: read the ids of their counters */
	bool apart;                      /* of counts: software events are switched one by one, and have the attributes that perf gives them */
	struct target_options target;
	const struct trace_options *trace; /* of an event that traces; NULL: as usual */
	struct events *events;           /* parsed; empty: the default event; completed here; borrowed until the close */
	const char *const *command;      /* to be started, ends with NULL; NULL: no command */
	bool command_to_stderr;          /* the command's standard output is standard error */
	bool user_signal;                /* SIGUSR2 sets signals.user; otherwise it is ignored */
	struct str *warnings;            /* what the user should know, a sentence a line, appended by measurement_open; may be NULL */
	struct str *notes;               /* what was changed so that events could be opened, the same; may be NULL */
};

/* Must not move while it is open. Callers read all members. */
struct measurement {
	struct events *events;
	bool counts;
	struct sampling sampling;        /* with what the target implies */
	struct target target;
	struct trace trace;              /* kind TRACE_NONE: no event traces */
	struct signals signals;          /* ended_by remains readable after the close */
	struct workload workload;
	struct cpu_changes cpu_changes;
	struct counters counters;
	struct bpf_programs programs;    /* filled by existing_write */
	int epoll;
	size_t rings_watched, rings_open; /* rings of which measurement_wait knows; those whose tasks still live */
	bool refused;                    /* measurement_open failed since an event could not be opened */
	bool ended;                      /* the command or all attached threads have ended, or a signal asks for the end */
};

/* Opens everything but the rings. The command waits for measurement_start. */
int measurement_open(struct measurement *measurement, const struct measurement_options *options, struct error *err);
/* Maps the rings. pages: of each, a power of two; 0: as many as the kernel allows every user. watched: measurement_wait returns when one
 * of them that is not overwritten is half full. */
int measurement_map(struct measurement *measurement, size_t pages, bool watched, struct error *err);
/* Adds a descriptor of the caller's to the wait, which sets this bit (below 32) when it can be read; several may share a bit. */
int measurement_watch(struct measurement *measurement, int fd, unsigned bit, struct error *err);
void measurement_unwatch(struct measurement *measurement, int fd);
/* Enables the events unless sampling.delay_ms leaves that to the caller (counters_switch), then lets the command run. Fails if it cannot
 * be executed. */
int measurement_start(struct measurement *measurement, struct error *err);
/* Waits for anything, at most timeout_ms (-1: without limit), and updates the members above. *ready: bits of measurement_watch. Returns
 * how many descriptors were ready: 0 after the time or an interruption. Without rings, attached threads are looked for after each time. */
int measurement_wait(struct measurement *measurement, int timeout_ms, uint32_t *ready, struct error *err);
/* Nothing more will be measured: `ended`, or the tasks of all watched rings have ended. */
bool measurement_over(const struct measurement *measurement);
/* Asks the command to end. From here on SIGQUIT ends the process at once. */
void measurement_stop(struct measurement *measurement);
/* Asks the command to end and waits for it; another signal ends the wait, as the command may ignore SIGTERM. */
void measurement_end_command(struct measurement *measurement);
/* Appends which CPUs went offline or came online since the open. Not twice. */
void measurement_report_cpus(struct measurement *measurement, struct str *warnings);
/* measurement_end_command, then closes everything and restores the signals. */
void measurement_close(struct measurement *measurement);
