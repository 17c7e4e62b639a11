/* Per-worker caches: the current thread of a tid, and the locations of addresses. Internal to session/. */
#pragma once
#include "session/resolved.h"
#include "session/state.h"
#include "session/user_stack.h"

enum {
	THREAD_CACHE = 256,    /* entries, a power of two */
	ADDRESS_CACHE_MIN = 2048,  /* entries, a power of two: twice the number of locations … */
	ADDRESS_CACHE_MAX = 32768, /* … up to this limit */
	ADDRESS_CACHE_STEP = 4,
	CACHE_LINE = 64,
	LOCATION_SLAB = 256,   /* locations allocated at once */
};

struct cached_thread {
	uint64_t epoch;        /* valid while equal to the worker's; 0: empty */
	int32_t pid, tid;
	uint32_t thread, comm;
	const struct map_node *user_root;
};

struct cached_address {
	uintptr_t key;         /* root and mode */
	uint64_t address;
	const struct location *location; /* NULL: empty */
	uint64_t padding;      /* makes the entry half a cache line, so that none crosses two */
};

struct worker_tally {
	uint64_t samples, bad_samples, unknown_ids, first_time, last_time;
};

struct worker {
	const struct session *session;
	unsigned index;
	struct worker_tally tally;
	uint64_t epoch;        /* number of model changes that this worker has passed */
	const struct map_node *kernel_root;
	struct cached_thread threads[THREAD_CACHE];
	struct cached_address *addresses; /* aligned to a cache line */
	void *addresses_memory;
	size_t address_mask;
	struct arena arena;
	struct location *fresh; /* the rest of the newest slab of locations, each in its own cache line */
	size_t fresh_count;
	struct location_slot {   /* open addressing by (mapping, mode, address): the key beside the pointer saves a cache miss */
		uint64_t address;
		uintptr_t key;
		const struct location *location; /* NULL: free */
	} *slots;
	size_t slot_count;
	uint32_t location_count;
	const struct location **chain; /* the frames that resolved_chain returns */
	size_t chain_capacity;
	uint64_t *addresses_unwound; /* of the current user stack */
	size_t addresses_capacity;
	struct user_stack user_stack;
	struct arena merged;   /* chains merged with their deferred part, of the current slice */
};

struct worker *worker_new(const struct session *session, unsigned index);
void worker_free(struct worker *worker);
/* Drops all locations and everything else that refers to the model. */
void worker_renew(struct worker *worker);
/* Bytes of the locations. */
size_t worker_growth(const struct worker *worker);
/* Sets thread, comm and roots of *r from r->pid, r->tid, r->clock. */
void worker_resolve(struct worker *worker, const struct model *model, struct resolved *r);
/* Prefetches the first entries that resolved_locate reads: cache misses are most of its cost. */
void worker_prefetch(const struct resolved *r, unsigned cpumode, uint64_t address);
