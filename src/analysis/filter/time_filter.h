/* --time: the time ranges that pass. Independent of samples and options.
 *
 * Forms: "start,stop" in seconds (either may be empty), several of them separated by spaces; "10%/2,10%/3" (the n-th part of that size);
 * "0%-10%,30%-40%"; "10%" (the first part). Percentages refer to the time from the first to the last sample of the recording. Source:
 * perf-report(1), "--time". */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "data/header.h"

struct time_range {
	uint64_t start, stop; /* ns, both inclusive; 0: open */
};

struct time_filter {
	struct time_range *ranges;
	size_t count; /* 0: all times pass */
};

/* Parses a filter. relative: times are relative to `first` (--reltime). first, last: times of the first and last sample in ns; both 0:
 * unknown. Fails with ERROR_USAGE; *filter is then empty. */
int time_filter_parse(struct time_filter *filter, const char *text, uint64_t first, uint64_t last, bool relative,
	struct error *err);
void time_filter_fini(struct time_filter *filter);

/* Parses seconds with at most nine decimals into ns. Fails with ERROR_USAGE. */
int time_parse(uint64_t *time_ns, const char *text, size_t len, struct error *err);

/* Returns the times of the first and last sample from the feature SAMPLE_TIME; both 0 if it is absent. */
void time_filter_bounds(const struct header *header, uint64_t *first, uint64_t *last);

bool time_filter_drops_slow(const struct time_filter *filter, uint64_t time);

/* Whether a sample of that time is filtered out. A sample without a time (0) passes. */
static inline bool time_filter_drops(const struct time_filter *filter, uint64_t time)
{
	return filter->count && time && time_filter_drops_slow(filter, time);
}
