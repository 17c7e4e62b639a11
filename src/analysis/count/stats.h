/* Counts records by type and samples by event (report --stats, the end of report -D). Fed by a sink's `raw`. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "analysis/count/sample_reads.h"
#include "base/vec.h"
#include "data/source.h"

struct event_stats {
	uint64_t samples;
	uint64_t lost, dropped; /* from LOST_SAMPLES: lost by the kernel, dropped by a BPF filter */
};

struct stats {
	bool as_dump;                   /* report -D: lost samples are not counted by event */
	bool by_branch;                 /* each branch counts as a sample */
	uint64_t total;
	uint64_t by_type[RECORD_TYPE_MAX];
	VEC(struct event_stats) events; /* by event; grows with the evlist */
	struct sample_reads reads;
};

void stats_fini(struct stats *stats); /* initialise with zeros; the caller sets as_dump and by_branch */
/* Counts one record in file order. header: of its source. */
void stats_count(struct stats *stats, const struct header *header, const struct record *record);
