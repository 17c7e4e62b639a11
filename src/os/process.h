/* Processes and threads as /proc tells them: names, parents, mappings, namespaces. What exits while it is read is skipped. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

enum {
	PROCESS_COMM_SIZE = 16,
	PROCESS_NAMESPACES = 7, /* net uts ipc pid user mnt cgroup: the order of PERF_RECORD_NAMESPACES */
};

struct process_ids {
	VEC(pid_t) list;
};

/* All processes, ascending. */
int process_list(struct process_ids *pids, struct error *err);
/* The threads of a process, ascending; < 0 where it is gone. */
int process_threads(pid_t pid, struct process_ids *tids, struct error *err);

struct process_status {
	char comm[PROCESS_COMM_SIZE];
	pid_t tgid, ppid;
	uid_t uid;
	bool kernel;       /* has no address space: a kernel thread */
};

/* Of a thread or process id. False: gone. */
bool process_status(pid_t pid, pid_t tid, struct process_status *status);

/* The thread exists, if only as a zombie. */
bool task_lives(pid_t pid, pid_t tid);

struct process_map {
	uint64_t start, end, pgoff, ino;
	uint32_t maj, min, prot, flags; /* PROT_*, MAP_* */
	const char *path;               /* "" for none; escapes as the kernel writes them; valid during the callback */
};

/* Calls visit for each line of /proc/PID/maps, in order. A timeout (ms, 0: none) ends it early with *timed_out set.
 * < 0: gone, or *err. visit < 0 ends it and is returned. */
int process_maps(pid_t pid, unsigned timeout_ms, bool *timed_out,
	int (*visit)(void *context, const struct process_map *map), void *context, struct error *err);

struct process_namespace {
	uint64_t dev, inode;
};

/* Namespaces a process is in; zero where they cannot be read. */
void process_namespaces(pid_t pid, pid_t tid, struct process_namespace namespaces[PROCESS_NAMESPACES]);

/* The words of this program's command line, appended to out, each with its NUL; returns how many. */
size_t process_self_command(struct str *out);
/* The path of this program, or fallback. */
void process_self_path(char *path, size_t size, const char *fallback);
