/* The generic events: names and their other spellings. Source: perf_event_open(2), "PERF_TYPE_*", perf-list(1). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* attr.type of what the tool itself measures (wall clock, rusage); no kernel knows it. */
#define EVENT_TYPE_TOOL 0xffffffffu

struct event_symbol {
	const char *name, *alias; /* alias NULL: none */
	uint32_t type;
	uint64_t config;
	const char *unit;         /* NULL */
	double scale;             /* 0: 1 */
};

/* Hardware, software and tool events in the order of their numbers; name NULL ends. */
extern const struct event_symbol event_symbols[];

/* By name or alias; NULL. */
const struct event_symbol *event_symbol_find(const char *name, size_t length);
const struct event_symbol *event_symbol_of(uint32_t type, uint64_t config);

/* "L1-dcache-load-misses": 1 and its config, 0: no such name, -1: a combination no processor counts. */
int event_cache_find(const char *name, size_t length, uint64_t *config);
/* Writes the usual name of a cache event; false for numbers beyond the tables. */
bool event_cache_name(uint64_t config, char *name, size_t size);
enum { CACHE_TYPES = 7, CACHE_OPS = 3, CACHE_RESULTS = 2 };
bool event_cache_possible(unsigned type, unsigned op);
