/* How many records of each type, and samples of each event (report --stats, the end of report -D). Fed by a sink's `raw`.
 * Knows no format of output. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "analysis/sample_reads.h"
#include "base/vec.h"
#include "data/source.h"

struct event_stats {
	uint64_t samples;
	uint64_t lost, dropped; /* LOST_SAMPLES: by the kernel, by a BPF filter */
};

struct stats {
	bool as_dump;                   /* report -D: lost samples are not told by event */
	bool by_branch;                 /* … and where report shows branches, each counts as a sample */
	uint64_t total;
	uint64_t by_type[RECORD_TYPE_MAX];
	VEC(struct event_stats) events; /* by event; grows with the evlist */
	struct sample_reads reads;
};

void stats_fini(struct stats *stats); /* a zeroed one is where to begin; as_dump and by_branch are the caller's to set */
/* One record as it is read; header: of its source. */
void stats_count(struct stats *stats, const struct header *header, const struct record *record);
