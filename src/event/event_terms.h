/* What stands between slashes: "period=10,call-graph=dwarf,umask=1". Internal to event/. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "event/event.h"

struct event_term {
	const char *name, *value;   /* slices of the text; value NULL where there is no '=' */
	size_t name_length, value_length;
	size_t at, value_at;        /* places in the text */
	bool quoted;
};

struct event_term_list {
	VEC(struct event_term) terms;
};

/* Reads from the place after the opening slash to the closing one, which it passes. < 0: err->at and err->what are set. */
int event_terms_parse(const char *text, size_t *at, struct event_term_list *list, struct event_error *err);

/* Applies terms to an event. pmu: its PMU, NULL for events by number. tracepoint: only what a tracepoint may have. */
int event_terms_apply(struct events *events, struct event *event, struct pmu *pmu, const struct event_term_list *list,
	bool tracepoint, struct event_error *err);

/* A number as terms have it: decimal or 0x…; false for anything else. */
bool event_number(const char *text, size_t length, uint64_t *value);
