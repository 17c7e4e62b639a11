/* What an event is called: as the recording says, otherwise made from its attribute ("cycles:u", "L1-dcache-load-misses",
 * "mem:0x1000:rw"). Knows no PMU catalogue. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "data/evlist.h"

enum { EVSEL_NAME_MAX = 128 };

/* Writes the name made from the attribute alone; buffer of at least EVSEL_NAME_MAX bytes. Returns buffer. */
const char *attr_name(const struct attr *attr, char *buffer, size_t size);

/* The recording's own name, or attr_name in buffer. */
const char *evsel_name(const struct evsel *evsel, char *buffer, size_t size);

/* Gives every tracepoint that has no name the "system:name" that lookup knows for its id. */
void evlist_name_tracepoints(struct evlist *evlist,
	bool (*lookup)(const void *context, uint64_t id, const char **system, const char **name), const void *context);
