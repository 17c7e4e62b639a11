/* What one worker keeps: which thread runs under a tid just now, and where addresses lie. Internal to session/. */
#pragma once
#include "session/session.h"
#include "session/user_stack.h"

enum {
	THREAD_CACHE = 256,    /* entries, a power of two */
	ADDRESS_CACHE_MIN = 2048,  /* entries, a power of two: twice as many as there are locations … */
	ADDRESS_CACHE_MAX = 32768, /* … up to this */
	ADDRESS_CACHE_STEP = 4,
	CACHE_LINE = 64,
	LOCATION_SLAB = 256,   /* locations made at a time */
};

struct cached_thread {
	uint64_t epoch;        /* valid while the worker's is the same; 0: empty */
	int32_t pid, tid;
	uint32_t thread, comm;
	const struct map_node *user_root;
};

struct cached_address {
	uintptr_t key;         /* root and mode */
	uint64_t address;
	const struct location *location; /* NULL: empty */
	uint64_t padding;      /* two to a cache line, none across two */
};

struct worker_tally {
	uint64_t samples, bad_samples, unknown_ids, first_time, last_time;
};

struct worker {
	const struct session *session;
	unsigned index;
	struct worker_tally tally;
	uint64_t epoch;        /* counts changes of the model that this worker has passed */
	const struct map_node *kernel_root;
	struct cached_thread threads[THREAD_CACHE];
	struct cached_address *addresses; /* aligned to a cache line */
	void *addresses_memory;
	size_t address_mask;
	struct arena arena;
	struct location *fresh; /* the rest of the newest slab of locations, each on a cache line of its own */
	size_t fresh_count;
	struct location_slot {   /* open addressing by (mapping, mode, address): the key beside the pointer saves a cache miss */
		uint64_t address;
		uintptr_t key;
		const struct location *location; /* NULL: free */
	} *slots;
	size_t slot_count;
	uint32_t location_count;
	const struct location **chain; /* the frames that resolved_chain gives */
	size_t chain_capacity;
	uint64_t *addresses_unwound; /* of the user stack at hand */
	size_t addresses_capacity;
	struct user_stack user_stack;
	struct arena merged;   /* chains whose parts came apart: of the slice at hand */
};

struct worker *worker_new(const struct session *session, unsigned index);
void worker_free(struct worker *worker);
/* Fills thread, comm and roots of *r from r->pid, r->tid, r->clock. */
void worker_resolve(struct worker *worker, const struct model *model, struct resolved *r);
/* Asks the memory for what resolved_locate will look at first: most of its cost is waiting for that. */
void worker_prefetch(const struct resolved *r, unsigned cpumode, uint64_t address);
