/* Counts of sampled events in user code after a switch and elsewhere: what caches and TLB miss more often after a switch, for the same
 * instructions. Knows no record. */
#pragma once
#include "analysis/blocking/lost.h"
#include "base/hash.h"
#include "base/vec.h"

struct event_count {
	uint32_t name;               /* a text of the caller */
	double counts[2], squares[2]; /* after a switch (0), elsewhere (1); squares of the periods, for the uncertainty */
};

struct event_counts {
	VEC(struct event_count) list;
	struct idmap known;          /* name → index */
};

void event_counts_add(struct event_counts *counts, uint32_t name, bool elsewhere, double period);
void event_counts_fini(struct event_counts *counts);

/* The counts after switches beyond those that as many instructions have elsewhere; low, high: 95 %. */
struct event_extra {
	bool known;                  /* otherwise instructions were not sampled in both places */
	double low, count, high;
	double rates[2];             /* for each instruction */
};

struct event_extra event_extra_of(const struct event_count *count, const struct lost_samples *samples);
