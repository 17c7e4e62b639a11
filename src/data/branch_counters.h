/* Counters of branch stacks: processors that have them store with each branch how often each event of a group occurred since the branch
 * before. A sample has a word for each branch; the events of its group that count have a field of it each, in their order. Source:
 * perf_event_open(2), PERF_SAMPLE_BRANCH_COUNTERS; /sys/bus/event_source/devices/cpu/caps/branch_counter_{nr,width}. */
#pragma once
#include "base/vec.h"
#include "base/writer.h"
#include "data/evlist.h"
#include "data/header.h"

/* What the PMU that recorded them can count; 0: unknown. */
struct branch_counter_limits {
	unsigned events, bits; /* bits: of a field, at most 8 */
};
struct branch_counter_limits branch_counter_limits(const struct header *header);

static inline bool evsel_counts_branches(const struct evsel *evsel)
{
	return evsel->attr.branch_sample_type & BRANCH_COUNTERS;
}

/* An event that counts. Events of one name have one letter. */
struct branch_counter {
	uint32_t event;
	unsigned letter;
};

struct branch_counters {
	VEC(struct branch_counter) items; /* in order of their events */
	unsigned bits;
};
void branch_counters_init(struct branch_counters *counters, const struct header *header);
void branch_counters_fini(struct branch_counters *counters); /* accepts a zeroed one */

enum { BRANCH_COUNTER_NAME_MAX = 4 };
/* perf's letters: A to Z, then A0 to Z9, then NA. Returns buffer. */
const char *branch_counter_name(unsigned letter, char buffer[static BRANCH_COUNTER_NAME_MAX]);

/* The names of the events and their letters, as perf explains them; nothing if there are no counters. */
void branch_counters_explain(const struct branch_counters *counters, const struct header *header, struct writer *out);
