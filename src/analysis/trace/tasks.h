/* The tasks of a trace of system calls: names, the call that has not returned, and the files behind descriptors. A descriptor's name is
 * known from the call that opened it, or read from /proc once. Knows no output. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/str.h"
#include "base/vec.h"
#include "syscalls/argument.h"

enum { TASK_COMM_SIZE = 16, TASK_FILES_MAX = 65536, TASKS_ENDED_MAX = 256 };

/* A call that has not returned. */
struct pending_call {
	bool pending;                    /* its line was not printed */
	bool open;                       /* it has not returned */
	const struct call *call;
	uint64_t entered;                /* 0: not seen */
	uint64_t values[CALL_ARGUMENTS];
	VEC(uint8_t) bytes;              /* of all arguments that have some */
	struct { uint32_t at, size; bool copied; } parts[CALL_ARGUMENTS];
};

/* The call chain of a return, which arrives before it. */
struct call_chain {
	struct str lines;
	uint32_t number;                 /* of the call */
	uint64_t time;                   /* between its entry and its return */
	bool waits;                      /* for its return */
	bool short_one;                  /* it has fewer frames than those that are shown */
};

struct trace_task {
	int32_t tid, tgid;
	char comm[TASK_COMM_SIZE];       /* "": not known */
	struct pending_call entry;
	struct call_chain chain;
	uint64_t events, major_faults, minor_faults, runtime_ns;
	uint64_t cgroup;                 /* the id of the last known one; 0: not known */
	bool ended;
	uint32_t index;                  /* in the list */
	uint32_t life;                   /* changes when the entry is given to another task */
};

struct trace_process {
	int32_t pid;
	VEC(char *) files;               /* by descriptor; NULL: not known; "": closed */
};

/* Asks the system; both return false if it does not answer. name has `size` bytes. */
struct task_sources {
	void *context;
	bool (*file)(void *context, int pid, int fd, char *name, size_t size);
	bool (*comm)(void *context, int tid, char *name, size_t size);
};

struct trace_tasks {
	VEC(struct trace_task *) list;   /* pointers stay valid, but the entry of a task that ended may become another's */
	bool keep_ended;                 /* for sums: no entry becomes another's */
	struct { struct trace_task *task; uint32_t life; } ended[TASKS_ENDED_MAX]; /* the last ones, as records of them may arrive later */
	size_t ended_count;
	VEC(struct trace_task *) unused;
	VEC(struct trace_process) processes;
	struct idmap by_tid, by_pid;
	struct task_sources sources;
	bool follows_files;              /* every call that opens a file is seen: a closed descriptor is known to be closed */
	uint64_t opened_files;           /* names that calls gave */
};

void trace_tasks_fini(struct trace_tasks *tasks);
/* Adds the task if it is new; tgid <= 0: unknown. */
struct trace_task *trace_tasks_get(struct trace_tasks *tasks, int32_t tid, int32_t tgid);
struct trace_task *trace_tasks_find(const struct trace_tasks *tasks, int32_t tid); /* NULL: unknown */
void trace_task_name(struct trace_task *task, const char *comm, size_t size);
/* The task has ended: its call does not return, and its files are forgotten with the process. */
void trace_tasks_end(struct trace_tasks *tasks, struct trace_task *task);
/* A child that begins with its parent's files. */
void trace_tasks_fork(struct trace_tasks *tasks, int32_t parent, struct trace_task *child);
/* Files that close at an exec are not known any more. */
void trace_tasks_exec(struct trace_tasks *tasks, struct trace_task *task);

/* NULL: unknown. Valid until the next change of the process's files. */
const char *trace_file_name(struct trace_tasks *tasks, int32_t pid, int fd);
/* A descriptor that is closed has no name until a call opens it: what the system says belongs to a later file. */
void trace_file_closed(struct trace_tasks *tasks, int32_t pid, int fd);
/* name NULL: unknown. */
void trace_file_set(struct trace_tasks *tasks, int32_t pid, int fd, const char *name, size_t length);
/* The comm of a process, read from /proc if it is unknown; NULL: it stays unknown. */
const char *trace_comm(struct trace_tasks *tasks, int pid);

void pending_call_set(struct pending_call *entry, const struct call *call, uint64_t entered, const uint64_t *values, unsigned count);
void pending_call_add(struct pending_call *entry, unsigned argument, const uint8_t *bytes, size_t size);
/* Fills call, values and bytes. */
void pending_call_values(const struct pending_call *entry, struct call_values *values);
/* What a call that has returned changes in the names of files. */
void trace_tasks_returned(struct trace_tasks *tasks, const struct trace_task *task, int64_t result);
