/* Recordings of `stat record`: counter values of each round as a table. Knows their records, not what the events count. */
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

/* Zeroed: where to begin. */
struct stream_stat {
	VEC(int32_t) cpus, threads;     /* by index, as values are; -1: any */
	bool has_cpus, has_threads, scaled, titled;
	struct stat_value *values, *before; /* by event, CPU, thread; NULL: not known yet how many */
	size_t count;
};

void stream_stat_fini(struct stream_stat *stat);
/* Takes a record; prints a round's values at its end. Records of other types are ignored. */
void stream_stat_add(struct stream_stat *stat, const struct evlist *evlist, const struct record *record, struct writer *out);
