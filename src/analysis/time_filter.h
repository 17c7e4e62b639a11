/* --time: the spans of time a user wants to see. Knows no sample and no option.
 *
 * Forms: "start,stop" in seconds (either side may be empty), several of them separated by spaces; "10%/2,10%/3" (the n-th slice of
 * that size); "0%-10%,30%-40%"; "10%" (the first). Percentages are of the recording's first to last sample. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "data/header.h"

struct time_range {
	uint64_t start, stop; /* nanoseconds, both inclusive; 0: open */
};

struct time_filter {
	struct time_range *ranges;
	size_t count; /* 0: everything passes */
};

/* relative: times count from `first` (--reltime). first, last: of the samples, both 0 where the recording does not tell. */
int time_filter_parse(struct time_filter *filter, const char *text, uint64_t first, uint64_t last, bool relative,
	struct error *err);
void time_filter_fini(struct time_filter *filter);

/* Seconds with at most nine decimals: nanoseconds. */
int time_parse(uint64_t *time_ns, const char *text, size_t len, struct error *err);

/* The recording's first and last sample time (its SAMPLE_TIME feature); both 0 where it has none. */
void time_filter_bounds(const struct header *header, uint64_t *first, uint64_t *last);

bool time_filter_drops_slow(const struct time_filter *filter, uint64_t time);

/* A sample without a time (0) always passes. */
static inline bool time_filter_drops(const struct time_filter *filter, uint64_t time)
{
	return filter->count && time && time_filter_drops_slow(filter, time);
}
