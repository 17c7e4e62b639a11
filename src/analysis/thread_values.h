/* What each thread counted: the READ records that a recording has where it was asked for them (record -s). */
#pragma once
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"
#include "session/session.h"

struct thread_value {
	int32_t pid, tid;
	uint64_t *counts;            /* by counter */
};

struct thread_values {
	VEC(struct thread_value) threads; /* as they came */
	VEC(uint32_t) events;        /* counters: the event of each, as they came */
	struct idmap by_thread, by_event;
	size_t room;                 /* counts that each thread has */
};

void thread_values_fini(struct thread_values *values); /* a zeroed one is where to begin */
/* One READ record, in delivery order. */
void thread_values_add(struct thread_values *values, const struct resolved *r);
