/* Per-worker caches: the current thread of a tid, the locations of addresses, and their points. Internal to session/. */
#pragma once
#include "session/resolved.h"
#include "session/callchains.h"
#include "session/points.h"
#include "session/space_cache.h"
#include "session/state.h"
#include "session/user_stack.h"

enum {
	THREAD_CACHE_MIN = 256, /* entries, a power of two: grows if threads displace each other often … */
	THREAD_CACHE_MAX = 65536, /* … up to this limit */
	THREAD_CACHE_STEP = 4,
	ADDRESS_CACHE_MIN = 1024,  /* entries, a power of two: grows if it misses often … */
	ADDRESS_CACHE_MAX = 32768, /* … up to this limit */
	ADDRESS_CACHE_STEP = 4,
	CACHE_LINE = 64,
};

struct cached_thread {
	uint64_t epoch;        /* valid while equal to the worker's; 0: empty */
	int32_t pid, tid;
	uint32_t thread, comm;
	const struct map_node *user_root;
	struct cached_space *user_space; /* of user_root; NULL without one */
	uint64_t spare[3];     /* an entry fills a cache line */
};

struct cached_address {
	uintptr_t key;         /* root and mode; 0: empty */
	struct location location;
	uint32_t block;        /* low bits of the last worker->block in which the location was returned */
};

struct worker_tally {
	uint64_t samples, bad_samples, unknown_ids, first_time, last_time;
};

struct worker {
	const struct session *session;
	unsigned index;
	struct worker_tally tally;
	uint64_t epoch;        /* number of model changes before the current record, from 1: the same for all workers */
	const struct map_node *kernel_root;
	struct cached_thread *threads; /* aligned to a cache line */
	void *threads_memory;
	size_t thread_mask, thread_misses; /* misses: entries of other threads with the same epoch, since the cache grew */
	struct space_cache spaces;
	struct cached_address *addresses; /* aligned to a cache line */
	void *addresses_memory;
	size_t address_mask, address_misses; /* misses: since the cache grew */
	struct callchains callchains;
	uint32_t block;        /* number of blocks so far: locations live until the next */
	struct arena displaced; /* locations of the current block whose cache entry another one has */
	struct points points;
	const struct location **chain; /* the frames that resolved_chain returns */
	size_t chain_capacity;
	uint64_t *addresses_unwound; /* of the current user stack */
	size_t addresses_capacity;
	struct user_stack user_stack;
	struct arena merged;   /* chains merged with their deferred part, of the current slice */
};

struct worker *worker_new(const struct session *session, unsigned index);
void worker_free(struct worker *worker);
/* Begins a slice: drops what was merged for earlier ones, and address spaces if they are many. */
void worker_begin_slice(struct worker *worker);
/* Begins a block: locations of earlier ones are no longer borrowed. */
void worker_begin_block(struct worker *worker);
/* Drops all points. */
void worker_drop_points(struct worker *worker);
/* The same, and everything else that refers to the model. */
void worker_renew(struct worker *worker);
/* Bytes of the points. */
size_t worker_growth(const struct worker *worker);
/* Prefetches what worker_resolve reads first. */
void worker_prefetch_thread(const struct worker *worker, int32_t tid);
/* Sets thread, comm and the user's address space of *r from r->pid, r->tid, r->clock; epoch: of the record, see worker.epoch. */
void worker_resolve(struct worker *worker, const struct model *model, struct resolved *r, uint64_t epoch);
/* Prefetches the first entries that resolved_locate reads: cache misses are most of its cost. */
void worker_prefetch(const struct resolved *r, unsigned cpumode, uint64_t address);
