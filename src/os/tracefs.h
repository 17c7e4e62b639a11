/* The kernel's tracing file system: where it is, which tracepoints it has, their ids and formats. Knows no format's grammar. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "os/file.h"

/* "/sys/kernel/tracing" or where else it is mounted; NULL: nowhere. Static text. */
const char *tracefs_path(void);

/* Systems ("sched", …), and events of one, in the folder's own order (the order perf opens them in). */
int tracefs_systems(struct names *systems, struct error *err);
int tracefs_events(const char *system, struct names *events, struct error *err);

/* The id that perf_event_open takes; < 0: there is no such tracepoint, or it may not be read (err says which). */
int tracefs_id(const char *system, const char *event, uint64_t *id, struct error *err);
/* Appends the text of a file below the tracing folder, such as "events/sched/sched_switch/format". */
int tracefs_read(const char *name, struct str *out, struct error *err);
