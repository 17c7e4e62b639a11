/* Names and aliases of the generic events. Source: perf_event_open(2), "PERF_TYPE_*", and perf-list(1). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* attr.type of events that perfuse measures itself (wall clock, rusage); the kernel does not know it */
#define EVENT_TYPE_TOOL 0xffffffffu

struct event_symbol {
	const char *name, *alias; /* alias NULL: absent */
	uint32_t type;
	uint64_t config;
	const char *unit;         /* NULL: a plain number */
	double scale;             /* 0: a factor of 1 */
};

/* Hardware, software and tool events, by number; the last row has no name. */
extern const struct event_symbol event_symbols[];

/* Searches by name or alias; NULL: unknown. */
const struct event_symbol *event_symbol_find(const char *name, size_t length);
const struct event_symbol *event_symbol_of(uint32_t type, uint64_t config);

/* Parses "L1-dcache-load-misses". Returns 1 and its config; 0: unknown name; -1: a combination that does not exist. */
int event_cache_find(const char *name, size_t length, uint64_t *config);
/* Whether the name has the form of a cache event; the combination may not exist. */
bool event_cache_is(const char *name, size_t length);
/* Writes the usual name of a cache event; false: the config is invalid. */
bool event_cache_name(uint64_t config, char *name, size_t size);
enum { CACHE_TYPES = 7, CACHE_OPS = 3, CACHE_RESULTS = 2 };
bool event_cache_possible(unsigned type, unsigned op);
