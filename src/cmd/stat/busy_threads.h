/* The threads that counted something, out of all threads of a machine: their labels, and the places of their counters among them. A table
 * has rows for these alone. Reused for each reading of the counters. */
#pragma once
#include "cmd/stat/aggregates.h"

struct busy_threads {
	VEC(uint32_t) numbers;           /* by aggregate: its place among the busy ones; UINT32_MAX: idle */
	VEC(const char *) labels;        /* of the busy ones; borrowed from the aggregates */
	VEC(int32_t) tids;
	VEC(struct stat_place) places;   /* of the counters for which busy_threads_place was called */
};

/* All threads are idle. */
void busy_threads_begin(struct busy_threads *busy, const struct aggregates *threads);
void busy_threads_mark(struct busy_threads *busy, uint32_t aggregate);
/* After the last mark. */
void busy_threads_number(struct busy_threads *busy, const struct aggregates *threads);
/* Adds the place of a counter of a busy thread; false: its thread is idle. */
bool busy_threads_place(struct busy_threads *busy, const struct stat_place *place);
void busy_threads_fini(struct busy_threads *busy);
