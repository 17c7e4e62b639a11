/* Events of the kernel's uprobes and kprobes as text: one line of uprobe_events or kprobe_events, written and read. Format:
 * Documentation/trace/uprobetracer.rst and kprobetrace.rst. Knows no program. */
#pragma once
#include "probe/variable.h"

struct probe_event {
	const char *group, *event;
	const char *path;             /* of the program, or the name of a kernel module; NULL: the kernel */
	const char *symbol;           /* of the kernel: the place is relative to it; NULL: at an address */
	uint64_t address, offset;     /* address: offset in the file */
	uint64_t semaphore;           /* offset in the file of the counter to increment; 0: none */
	const char *realname;         /* the function */
	bool returns, user;           /* user: of a program */
	VEC(struct probe_fetch) fetches;
};

void probe_event_fini(struct probe_event *event);
/* Appends the line without its newline. */
void probe_event_text(const struct probe_event *event, struct str *to);
/* Reads a line; texts live in the arena. False: not an event of a probe. */
bool probe_event_read(struct probe_event *event, const char *line, struct arena *arena);

#define PROBE_NAME_MAX 64u
/* Makes the name of an event from a function's: without suffixes of compilers and versions, every character that C does not allow replaced;
 * "name__return" for a return. */
void probe_event_name(const char *function, bool returns, char name[static PROBE_NAME_MAX]);
/* Makes the group of a program's events: "probe_libc" of "/lib/libc-2.36.so". */
void probe_group_name(const char *path, char name[static PROBE_NAME_MAX]);
