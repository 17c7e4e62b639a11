/* The tasks of a recording as a tree, and their mappings at the end of the recording (report --tasks, --mmaps). A task is a tid and
 * remains after its exit. COMM and FORK are applied as perf applies them. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/str.h"
#include "base/vec.h"
#include "session/session.h"

struct task {
	int32_t pid, tid, ppid;  /* ppid: the tid of the parent; -1: unknown */
	const char *comm;        /* NULL: unknown */
	uint32_t level;          /* depth in the tree, set by tasks_arrange */
	bool removed, shown;
};

struct tasks {
	VEC(struct task) tasks;
	struct idmap by_tid;     /* tid → index in tasks */
	struct strtab comms;
	VEC(uint32_t) order;     /* set by tasks_arrange: indices in tasks, parents before their children */
	bool mmaps;              /* --mmaps: mappings create tasks, too */
};

struct task_map {
	uint64_t start, end, pgoff, ino;
	uint32_t prot, flags;
	const char *name;
};

void tasks_init(struct tasks *tasks, bool mmaps);
void tasks_fini(struct tasks *tasks);
/* Applies one side-band record. Records must be in delivery order. */
void tasks_apply(struct tasks *tasks, const struct record *record);
/* Computes `order` and the levels after the last record. */
void tasks_arrange(struct tasks *tasks);
/* Visits the mappings of a task in order of address. */
void tasks_each_map(const struct tasks *tasks, const struct task *task, const struct model *model,
	void (*visit)(void *context, const struct task_map *map), void *context);
