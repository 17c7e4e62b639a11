/* Call chains of user code that come later than their sample. The kernel (6.19 and newer) may interrupt, record the kernel's part of
 * a chain with a cookie, and tell the user's part in a record of its own (CALLCHAIN_DEFERRED) once the thread goes back to user code.
 * Samples keep their place in the order of delivery: what is delivered waits for them, within bounds. Internal to session/. */
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
	size_t place;                /* of its record in the batch */
};

struct deferred_sample {
	uint64_t key;
	size_t place;
};

struct deferred {
	bool wanted;                 /* an event of the recording has such chains */
	VEC(struct deferred_chain) chains;
	struct idmap by_key;         /* of thread and cookie: the newest chain */
	VEC(struct deferred_sample) waiting; /* samples in order; those before `head` wait no more */
	size_t head;
};

void deferred_fini(struct deferred *deferred);
void deferred_open(struct deferred *deferred, const struct evlist *evlist);
/* A record of the batch at hand, at this place of it. */
void deferred_note(struct deferred *deferred, const struct evlist *evlist, const struct record *record, size_t place);
/* How many records of the batch may go now: up to the first sample that waits, unless `patience` records have come since. */
size_t deferred_due(struct deferred *deferred, size_t count, size_t patience);
/* The first `gone` records of the batch were delivered. */
void deferred_shift(struct deferred *deferred, size_t gone);
/* Puts the user's part in the place of the cookie, in memory of the arena; leaves the cookie out where nothing came. */
void deferred_merge(const struct deferred *deferred, struct sample *sample, struct arena *arena);
