/* The kernel's tracing file system (Documentation/trace/ftrace.rst): its mount, its tracepoints, their ids and formats. Knows no format's
 * grammar. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "os/file.h"

/* "/sys/kernel/tracing" or another mount. Where there is none, it mounts one there, as systemd and perf do, for all processes and until
 * the machine stops; NULL: this user cannot. Static text. */
const char *tracefs_path(void);

/* Systems ("sched", …), and events of one, in the folder's own order (in which perf opens them). */
int tracefs_systems(struct names *systems, struct error *err);
int tracefs_events(const char *system, struct names *events, struct error *err);

/* The id for perf_event_open; < 0: the tracepoint does not exist, or cannot be read (err distinguishes). */
int tracefs_id(const char *system, const char *event, uint64_t *id, struct error *err);
/* The tracepoints of a system by name, with their ids if they are asked for, which costs a file each. */
struct tracefs_list {
	VEC(struct tracefs_entry { const char *name; uint64_t id; }) list;
	struct arena arena;
};
int tracefs_list(const char *system, bool ids, struct tracefs_list *out, struct error *err);
void tracefs_list_fini(struct tracefs_list *list);
/* Appends the text of a file below the tracing folder, such as "events/sched/sched_switch/format". */
int tracefs_read(const char *name, struct str *out, struct error *err);
/* Opens a file of probes ("uprobe_events") to add lines to it, which never changes what it holds. Returns the descriptor; < 0: failed. */
int tracefs_open_append(const char *name, struct error *err);
/* Writes one line with one call, as the kernel takes it. */
int tracefs_append(int fd, const char *line, struct error *err);
