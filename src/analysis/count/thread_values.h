/* Counter values by thread, from READ records (record -s). */
#pragma once
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"
#include "session/session.h"

struct thread_value {
	int32_t pid, tid;
	uint64_t *counts;            /* by index in thread_values.events */
};

struct thread_values {
	VEC(struct thread_value) threads; /* in order of arrival */
	VEC(uint32_t) events;        /* the event of each value, in order of arrival */
	struct idmap by_thread, by_event;
	size_t room;                 /* capacity of each thread's counts */
};

void thread_values_fini(struct thread_values *values); /* initialise with zeros */
/* Adds one READ record. Records must be in delivery order. */
void thread_values_add(struct thread_values *values, const struct resolved *r);
