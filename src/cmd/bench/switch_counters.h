/* Counters of this process, and of the threads that it makes meanwhile, while turns are taken. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum switch_counter { SWITCH_CYCLES, SWITCH_INSTRUCTIONS, SWITCH_CACHE_MISSES, SWITCH_DTLB_MISSES, SWITCH_COUNTERS };

/* type and config of perf_event_open(2) */
struct switch_event {
	uint32_t type;
	uint64_t config;
};

extern const struct switch_event switch_events[SWITCH_COUNTERS];

struct switch_count {
	bool known;          /* otherwise the machine does not count the event, or this user may not count it */
	uint64_t value;      /* of the whole time, if the event was counted in a part of it */
};

struct switch_counters {
	const struct switch_event *events; /* SWITCH_COUNTERS of them */
	int fds[SWITCH_COUNTERS];
	struct switch_count counts[SWITCH_COUNTERS];
};

/* Both take a struct switch_counters, whose events are set. */
void switch_counters_begin(void *context);
void switch_counters_end(void *context);
