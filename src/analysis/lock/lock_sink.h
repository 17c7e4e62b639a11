/* The analysis of `lock report`, `lock info` and `lock contention` of a recording: events of locks → sums of waits. Each thread has a
 * state for each lock that it uses; an event that does not match the state makes the lock's sum `broken`. Events:
 * lock:contention_begin and _end, and those of CONFIG_LOCKDEP (lock_acquire, lock_acquired, lock_contended, lock_release). */
#pragma once
#include "analysis/lock/lock_names.h"
#include "analysis/lock/lock_stats.h"
#include "session/session.h"
#include "tracepoint/tracepoint.h"

enum lock_broken { LOCK_BROKEN_ACQUIRE, LOCK_BROKEN_ACQUIRED, LOCK_BROKEN_CONTENDED, LOCK_BROKEN_RELEASE, LOCK_BROKEN_COUNT };

struct lock_words {
	VEC(const char *) list;
};

struct lock_addresses {
	VEC(uint64_t) list;
};

struct lock_sink_options {
	struct symbols *symbols;                /* for the session's modules */
	struct tracepoints *const *tracepoints; /* NULL until the recording's formats are read */
	enum lock_group group;                  /* not LOCK_GROUP_CGROUP */
	bool contention_only;                   /* without the events of lockdep */
	unsigned max_stack, stack_skip;
	/* Filters of contention_begin; borrowed; an empty one passes all. A callers word is a part of a function's name. */
	const uint32_t *types;
	size_t type_count;
	struct lock_addresses *addresses;       /* those of symbols_wanted are added */
	const struct lock_words *symbols_wanted, *callers;
};

struct lock_thread {
	int32_t tid;
	const char *comm;                       /* the last one; NULL: unknown */
};

struct lock_sink {
	struct lock_sink_options options;
	struct lock_stats stats;
	struct lock_text text;
	bool text_found;
	const struct module *kernel;
	VEC(int8_t) kinds;                      /* by event of the recording: enum lock_event, or -1 */
	VEC(struct lock_use) uses;              /* of locks by threads */
	struct idmap first_use;                 /* hash of thread and lock → index in uses */
	VEC(struct lock_thread) threads;
	struct idmap by_tid;                    /* → index in threads */
	struct lock_words unknown;              /* symbols_wanted that the kernel does not have */
	uint32_t broken[LOCK_BROKEN_COUNT];
};

/* The state of a lock in a thread. */
struct lock_use {
	uint64_t lock, since_ns;
	int32_t tid;
	uint32_t readers, next;                 /* next: index + 1 of another use with this hash */
	uint8_t state;
};

void lock_sink_init(struct lock_sink *sink, const struct lock_sink_options *options);
void lock_sink_fini(struct lock_sink *sink);
/* Takes one sample, in order of delivery. */
void lock_sink_take(struct lock_sink *sink, const struct resolved *r);
/* NULL: no event of the thread. */
const struct lock_thread *lock_sink_thread(const struct lock_sink *sink, int32_t tid);
