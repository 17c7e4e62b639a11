/* Recordings of `stat record`: counter values of each round as text. Independent of what the events count. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/record.h"
#include "base/vec.h"
#include "base/writer.h"
#include "data/evlist.h"

struct stat_value {
	uint64_t value, enabled, running;
};

/* Initialise with zeros. */
struct listing_stat {
	VEC(int32_t) cpus, threads;     /* by index, as in values; -1: any */
	bool has_cpus, has_threads, scaled, titled;
	struct stat_value *values, *before; /* by event, CPU, thread; NULL: their numbers are not known yet */
	size_t count;
};

void listing_stat_fini(struct listing_stat *stat);
/* Adds a record; at the end of a round, prints its values. Records of other types are ignored. */
void listing_stat_add(struct listing_stat *stat, const struct evlist *evlist, const struct record *record, struct writer *out);
