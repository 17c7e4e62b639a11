/* The tasks of a recording as a tree, and what each had mapped at the end (report --tasks, --mmaps). Follows COMM and FORK the way
 * perf does: a task is one tid, and stays after its exit. Knows no format of output. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/str.h"
#include "base/vec.h"
#include "session/session.h"

struct task {
	int32_t pid, tid, ppid;  /* ppid: the tid of the parent; -1: not known */
	const char *comm;        /* NULL: not known */
	uint32_t level;          /* depth in the tree; set by tasks_arrange */
	bool removed, shown;
};

struct tasks {
	VEC(struct task) tasks;
	struct idmap by_tid;     /* tid → index */
	struct strtab comms;
	VEC(uint32_t) order;     /* tasks_arrange: indices, parents before their children */
	bool mmaps;              /* --mmaps: mappings make tasks known, too */
};

struct task_map {
	uint64_t start, end, pgoff, ino;
	uint32_t prot, flags;
	const char *name;
};

void tasks_init(struct tasks *tasks, bool mmaps);
void tasks_fini(struct tasks *tasks);
/* One side-band record, in delivery order. */
void tasks_apply(struct tasks *tasks, const struct record *record);
/* After the last record: puts the tasks in order. */
void tasks_arrange(struct tasks *tasks);
/* The mappings of a task, in order of address. */
void tasks_each_map(const struct tasks *tasks, const struct task *task, const struct model *model,
	void (*visit)(void *context, const struct task_map *map), void *context);
