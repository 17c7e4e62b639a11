/* Samples that carry counter values (PERF_SAMPLE_READ): each value that has moved since its last sample stands for a sample of
 * its event, with the difference as period. The values are kept by id, so samples must pass in delivery order. */
#pragma once
#include "abi/sample.h"
#include "base/hash.h"
#include "base/vec.h"
#include "data/evlist.h"

struct sample_reads {
	struct idmap places;   /* id → index in values */
	VEC(uint64_t) values;
};

struct sample_part {
	uint32_t event;
	uint64_t id, period;
};

void sample_reads_fini(struct sample_reads *reads); /* a zeroed one is where to begin */

/* Calls visit for each part of a sample of evsel; a sample without counter values is one part, itself. */
void sample_reads_each(struct sample_reads *reads, const struct evlist *evlist, uint32_t event, const struct sample *sample,
	void (*visit)(void *context, const struct sample_part *part), void *context);
