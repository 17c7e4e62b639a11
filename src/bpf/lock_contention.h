/* Waits for locks of the running kernel, summed by BPF programs (lock_contention.bpf.c) by lock, thread, caller or cgroup. Knows no name of
 * an address and no output.
 *
 *   lock_contention_open → lock_contention_start → lock_contention_stop → lock_contention_each … → lock_contention_close */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/loader.h"
#include "bpf/lock_shared.h"

struct lock_contention_options {
	enum lock_mode mode;
	bool owners;                 /* LOCK_BY_TASK: threads that have the lock, instead of those that wait */
	bool owner_stacks;           /* with owners: sums by the call chains that these have when waits begin, too */
	bool stacks;                 /* sums by call chain, too */
	unsigned max_stack;          /* frames of a call chain, at least 1 */
	unsigned stack_skip;
	uint32_t entries;            /* of the maps */
	bool unified;                /* cgroups are those of cgroup2 */
	/* Only these are counted; borrowed; a count of 0: all. */
	const int32_t *cpus;
	const uint32_t *tasks, *types;
	const uint64_t *addresses, *cgroups;
	size_t cpu_count, task_count, type_count, address_count, cgroup_count;
	bool processes;              /* `tasks` are processes and not threads */
	bool follow;                 /* with processes: their children, too */
	bool no_match;               /* filters were requested of which none exists: nothing is counted */
};

struct lock_contention {
	struct loader loader, runqueues; /* runqueues.object NULL: not loaded */
	struct lock_contention_options options;
	uint64_t ended_ns;
	bool no_owner_stacks;        /* the kernel cannot give them: before Linux 6.2 */
};

int lock_contention_open(struct lock_contention *contention, const struct lock_contention_options *options, struct error *err);
/* Adds a process to options.tasks, which must not be empty. */
int lock_contention_add_task(struct lock_contention *contention, uint32_t task, struct error *err);
int lock_contention_start(struct lock_contention *contention, struct error *err);
/* The sums are complete from here on: waits that have not ended are in them. */
void lock_contention_stop(struct lock_contention *contention);

/* Calls visit for each sum. stack: options.max_stack addresses, innermost first, 0 after the last; all 0 without options.stacks, and if the
 * call chain is missing. Both are valid during the call. */
void lock_contention_each(const struct lock_contention *contention,
	void (*visit)(void *context, const struct lock_key *key, const struct lock_sum *sum, const uint64_t *stack), void *context);
/* The same for sums by the call chain of owners; key: its id. */
void lock_contention_each_owner(const struct lock_contention *contention,
	void (*visit)(void *context, uint64_t id, const struct lock_sum *sum, const uint64_t *stack), void *context);
/* The name of a thread of LOCK_BY_TASK; false: unknown. */
bool lock_contention_comm(const struct lock_contention *contention, uint32_t tid, struct lock_task *task);
/* Whether this is the lock of a run queue; false where the kernel does not publish them. */
bool lock_contention_is_runqueue(const struct lock_contention *contention, uint64_t address);
/* The number of waits that are not in the sums, or are without a call chain (LOCK_LOST_STACK). */
uint64_t lock_contention_lost(const struct lock_contention *contention, enum lock_loss loss);
void lock_contention_close(struct lock_contention *contention);
