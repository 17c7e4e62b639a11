/* The sink of `report`: samples become tallies (the keys that distinguish rows, and a stack) whose periods add up; at the end tallies
 * become the entries of one hist per event. Each worker collects separately; the merge is deterministic.
 * Knows columns, not terminals. */
#pragma once
#include "analysis/entry/names.h"
#include "analysis/entry/state.h"
#include "base/error.h"

void profile_open(struct profile *profile, const struct profile_options *options, struct session *session, struct symbols *symbols);
void profile_close(struct profile *profile);
struct sink profile_sink(struct profile *profile);
/* Whether the samples of these events must be processed in order: then the sink must be serial. A stream may add events later. */
bool profile_needs_order(struct profile *profile);
/* After the session ran, the stages: merge (merge.h), fold into entries (fold.h), collapse equal texts (collapse.h), order (hist.h).
 * Each reads the result of the one before and does not change it. */
void profile_finish(struct profile *profile);

/* A finished profile of the samples so far, while the session waits for the end of a sink's batch_end or pauses. Entries that perf would
 * order by the order of their samples may be in another order. The caller closes it. */
void profile_preview(struct profile *profile, struct profile *preview);

/* Samples whose recorded chains reach user code, and those whose user part is by frame pointers and ends after one or two frames. 0:
 * chains were not collected, or not whole. */
struct profile_depths {
	uint64_t chains, short_chains;
};
struct profile_depths profile_chain_depths(const struct profile *profile);
