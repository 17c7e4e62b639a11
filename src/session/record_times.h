/* The time of each record, without a look-up of its event where all events of the recording have it at one position. */
#pragma once
#include "data/header.h"

struct record_times {
	int front, back;      /* position of the time common to all events, as u64 index from the front or the back; < 0, 0: differs */
	size_t events;        /* number of events from which these were computed */
};

/* To be called when events were added; at first with a zeroed struct. It reads the new ones alone: a stream may add one at a time. */
static inline void record_times_refresh(struct record_times *times, const struct evlist *evlist)
{
	if (!times->events)
		times->front = times->back = -1;
	for (; times->events < evlist->events.count; times->events++) {
		const struct sample_layout *layout = &evlist->events.items[times->events].layout;
		if (times->events == 0) {
			times->front = layout->time_at;
			times->back = layout->trailer_time_at;
		}
		if (layout->time_at != times->front)
			times->front = -1;
		if (layout->trailer_time_at != times->back)
			times->back = 0;
	}
}

static inline uint64_t record_times_of(const struct record_times *times, const struct evlist *evlist, const struct record *record)
{
	bool sample = record->type == RECORD_SAMPLE;
	if (sample && times->front >= 0)
		return record_time_from_front(record, times->front);
	if (!sample && times->back > 0)
		return record_time_from_back(record, times->back);
	return evlist_time_of(evlist, record);
}

/* Old recorders gave times only to samples: then only the order in the file determines the mappings that a sample sees. */
static inline bool record_times_side_band(const struct header *header)
{
	return header->pipe || !header->evlist.events.count || attr_flag(&header->evlist.events.items[0].attr, ATTR_SAMPLE_ID_ALL);
}
