/* Processes and threads from /proc (proc(5)): names, parents, mappings, namespaces. Those that exit meanwhile are skipped. */
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
/* The threads of a process, ascending; < 0 if it has exited. */
int process_threads(pid_t pid, struct process_ids *tids, struct error *err);

struct process_status {
	char comm[PROCESS_COMM_SIZE];
	pid_t tgid, ppid;
	uid_t uid;
	bool kernel;       /* has no address space: a kernel thread */
	long threads;      /* of its process; 0: it has ended */
	uint64_t switches; /* of the thread, since it began: voluntary and other ones */
};

/* Of a thread or process id. Returns false if it has exited. */
bool process_status(pid_t pid, pid_t tid, struct process_status *status);

/* The name, parent, threads and `kernel` of a process, which is no thread of another. Costs less than process_status. */
bool process_brief(pid_t pid, struct process_status *status);

/* The name of a thread, truncated as the kernel does; "" if it has exited. Costs less than process_status. */
void task_name(pid_t pid, pid_t tid, char name[static PROCESS_COMM_SIZE]);

/* The time at which the process was started, in seconds since 1970. Returns false if it is gone. */
bool process_start(pid_t pid, int64_t *start_s);

/* Returns whether the thread exists, including zombies. */
bool task_lives(pid_t pid, pid_t tid);
/* Returns whether the thread exists and has not ended: its parent may not have waited for it yet. */
bool task_runs(pid_t tid);

struct process_map {
	uint64_t start, end, pgoff, ino;
	uint32_t maj, min, prot, flags; /* PROT_*, MAP_* */
	const char *path;               /* "" if absent; escapes as the kernel writes them; valid during the callback */
};

/* Calls visit for each line of /proc/PID/maps, in order. A timeout (ms, 0: none) ends it early with *timed_out set. < 0: the process has
 * exited, or *err. If visit returns < 0, that ends the walk and is returned. */
int process_maps(pid_t pid, unsigned timeout_ms, bool *timed_out,
	int (*visit)(void *context, const struct process_map *map), void *context, struct error *err);

struct process_namespace {
	uint64_t dev, inode;
};

/* The namespaces of a process; zero if they cannot be read. */
void process_namespaces(pid_t pid, pid_t tid, struct process_namespace namespaces[PROCESS_NAMESPACES]);

/* Whether the process runs a 32-bit program; not if it has ended, or may not be read. */
bool process_is_32bit(pid_t pid);

/* The kernel sends the signal to this process when the thread that forked it ends. False: `parent`, its process, has ended already. */
bool process_ends_with(pid_t parent, int signal);

/* The words of this program's command line: the path of the program, its arguments, NULL. */
struct process_words {
	VEC(const char *) list;
	struct str text;   /* internal: what the list points into */
	char path[4096];
};
/* program: the path if /proc has none. The words must not move. */
void process_words_read(struct process_words *words, const char *program);
void process_words_fini(struct process_words *words);
/* The path of this program, or fallback. */
void process_self_path(char *path, size_t size, const char *fallback);
