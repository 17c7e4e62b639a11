/* User call chains that follow their sample. The kernel (6.19 and newer) may interrupt, record the kernel part of a chain with a cookie,
 * and write the user part in a separate record (CALLCHAIN_DEFERRED) when the thread returns to user code. Samples retain their position
 * in the order of delivery: delivery waits for the chain, within bounds. Internal to session/. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/sample.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "data/evlist.h"

struct deferred_chain {
	uint64_t cookie, count;
	const uint8_t *ips;
	uint32_t tid;
	size_t place;                /* index of its record in the batch */
};

struct deferred_sample {
	uint64_t key;
	size_t place;
};

struct deferred {
	bool wanted;                 /* an event of the recording has deferred chains */
	VEC(struct deferred_chain) chains;
	struct idmap by_key;         /* by thread and cookie: the newest chain */
	VEC(struct deferred_sample) waiting; /* samples in order; those before `head` no longer wait */
	size_t head;
};

void deferred_fini(struct deferred *deferred);
/* Whether events from the one with index `first` on defer call chains. */
void deferred_add_events(struct deferred *deferred, const struct evlist *evlist, size_t first);
/* Registers a record of the current batch and its index there. */
void deferred_note(struct deferred *deferred, const struct evlist *evlist, const struct record *record, size_t place);
/* The number of records of the batch that can be delivered now: up to the first waiting sample, unless `patience` records follow it. */
size_t deferred_due(struct deferred *deferred, size_t count, size_t patience);
/* Removes the first `gone` records of the batch, which were delivered. */
void deferred_shift(struct deferred *deferred, size_t gone);
/* Replaces the cookie by the user part, in memory of the arena; removes the cookie if no chain arrived. */
void deferred_merge(const struct deferred *deferred, struct sample *sample, struct arena *arena);
