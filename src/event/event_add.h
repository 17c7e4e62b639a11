/* Appends events to a list: by number, by the name of a PMU or of its event, by an address, by a tracepoint. Internal to event/. */
#pragma once
#include "event/event.h"
#include "event/event_terms.h"

enum { EVENTS_MAX = 16384 };

/* Where an event is being added, and the terms between its slashes. */
struct event_adding {
	struct events *events;
	const struct event_term_list *terms;
	size_t at;                 /* offset of the event in the text, for errors */
	struct event_error *err;
};

/* Each returns 0, or < 0 with *err; what it added before it failed remains. */
int event_add_symbol(const struct event_adding *a, const struct event_symbol *symbol);
int event_add_number(const struct event_adding *a, uint32_t type, uint64_t config);
int event_add_cache(const struct event_adding *a, const char *name);
/* Access: bits of HW_BREAKPOINT_*: read 1, write 2, execute 4; 0: read and write. length 0: the usual one. */
int event_add_breakpoint(const struct event_adding *a, uint64_t address, uint64_t length, uint32_t access);
/* The events of that name on all PMUs. */
int event_add_named(const struct event_adding *a, const char *name);
/* "name/terms/": the name is that of a PMU, of a family of PMUs, a pattern of PMUs, or an event's. */
int event_add_pmu(const struct event_adding *a, const char *name);
/* Both may be patterns. */
int event_add_tracepoints(const struct event_adding *a, const char *system, const char *name);
