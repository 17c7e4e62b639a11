/* Retire latencies (the modifier R): each such event is sampled on CPUs while others are counted, with the fields that `record -W` asks
 * for, and its count is the mean, the least, the largest or the last of the latencies in the weights of its samples. Source:
 * PERF_SAMPLE_WEIGHT_STRUCT in perf_event_open(2), whose var3_w is the latency on processors of Intel with timed PEBS. Knows no counter
 * of a measurement. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "data/evlist.h"
#include "event/event.h"
#include "record/acquire/counters.h"
#include "record/acquire/ring_order.h"
#include "record/acquire/target.h"

enum latency_choice { LATENCY_MEAN, LATENCY_MIN, LATENCY_MAX, LATENCY_LAST };

struct latency_sum {
	uint64_t cycles, samples;
	uint16_t min, max, last;
};

struct latencies {
	struct events events;            /* the events with the modifier R as they are sampled; names are borrowed */
	VEC(uint32_t) index;             /* by event of the measurement: its index there; UINT32_MAX: it is counted */
	VEC(struct latency_sum) sums;    /* by sampled event */
	struct target target;
	struct counters counters;
	struct evlist evlist;
	struct ring_order order;
};

bool latencies_wanted(const struct events *events);
/* Opens the events on all CPUs, or on those of the list `cpus` (NULL), stopped, and maps their rings. Appends a sentence with the events
 * that this machine cannot sample (latencies_sampled) to `warnings` (may be NULL). latencies_close is due on every path. */
int latencies_open(struct latencies *latencies, const struct events *events, const char *cpus, struct str *warnings, struct error *err);
bool latencies_sampled(const struct latencies *latencies, uint32_t event);
/* event: UINT32_MAX: all. */
void latencies_switch(struct latencies *latencies, uint32_t event, bool on);
/* Takes the samples out of the rings. */
void latencies_take(struct latencies *latencies);
/* Adds one record of a ring. */
void latencies_add(struct latencies *latencies, const struct record *record);
/* What was chosen of all samples; a mean is rounded as by rint: halves to the even number. 0 without samples. */
uint64_t latencies_value(const struct latencies *latencies, uint32_t event, enum latency_choice choice);
/* The number of samples of all events. */
uint64_t latencies_samples(const struct latencies *latencies);
void latencies_close(struct latencies *latencies);
