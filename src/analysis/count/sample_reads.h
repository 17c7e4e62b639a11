/* Samples with counter values (PERF_SAMPLE_READ): each value that has changed since its last sample counts as a sample of its event, with
 * the difference as period. Values are stored by id, so that samples must be passed in delivery order. */
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

void sample_reads_fini(struct sample_reads *reads); /* initialise with zeros */

/* Calls visit for each event of a sample with counter values; a sample without them is passed as it is. */
void sample_reads_each(struct sample_reads *reads, const struct evlist *evlist, uint32_t event, const struct sample *sample,
	void (*visit)(void *context, const struct sample_part *part), void *context);
