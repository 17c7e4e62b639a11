/* The kernel's tracing file system (Documentation/trace/ftrace.rst): its mount, its tracepoints, their ids and formats. Knows no format's
 * grammar. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "os/file.h"

/* "/sys/kernel/tracing" or another mount; NULL: not mounted. Static text. */
const char *tracefs_path(void);

/* Systems ("sched", …), and events of one, in the folder's own order (in which perf opens them). */
int tracefs_systems(struct names *systems, struct error *err);
int tracefs_events(const char *system, struct names *events, struct error *err);

/* The id for perf_event_open; < 0: the tracepoint does not exist, or cannot be read (err distinguishes). */
int tracefs_id(const char *system, const char *event, uint64_t *id, struct error *err);
/* Whether it is a tracepoint; costs less than reading its id. */
bool tracefs_has_id(const char *system, const char *event);
/* Appends the text of a file below the tracing folder, such as "events/sched/sched_switch/format". */
int tracefs_read(const char *name, struct str *out, struct error *err);
