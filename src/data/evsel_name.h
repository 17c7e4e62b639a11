/* The name of an event: from the recording, otherwise composed from its attribute ("cycles:u", "L1-dcache-load-misses", "mem:0x1000:rw").
 * Knows no PMU catalogue. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "data/evlist.h"

enum { EVSEL_NAME_MAX = 128 };

/* Composes the name from the attribute; buffer of at least EVSEL_NAME_MAX bytes. Returns buffer. */
const char *attr_name(const struct attr *attr, char *buffer, size_t size);

/* The recorded name, or attr_name in buffer. */
const char *evsel_name(const struct evsel *evsel, char *buffer, size_t size);

/* Names every tracepoint from the event `first` on that has no name with the "system:name" that lookup returns for its id. */
void evlist_name_tracepoints(struct evlist *evlist, size_t first,
	bool (*lookup)(const void *context, uint64_t id, const char **system, const char **name), const void *context);
