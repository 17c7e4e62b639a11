/* Terms between slashes: "period=10,call-graph=dwarf,umask=1". Internal to event/. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "event/event.h"

struct event_term {
	const char *name, *value;   /* borrowed from the text; value NULL: there is no '=' */
	size_t name_length, value_length;
	size_t at, value_at;        /* offsets in the text */
	bool quoted;
};

struct event_term_list {
	VEC(struct event_term) terms;
};

/* Parses from text[*at], after the opening slash, and moves *at past the closing slash. < 0: err->at and err->what are set. */
int event_terms_parse(const char *text, size_t *at, struct event_term_list *list, struct event_error *err);

/* Applies terms to an event. pmu: its PMU; NULL: the event is given by number. tracepoint: only terms for tracepoints are valid. */
int event_terms_apply(struct events *events, struct event *event, struct pmu *pmu, const struct event_term_list *list,
	bool tracepoint, struct event_error *err);

/* Parses a decimal or 0x… number of `length` characters; false: it is something else or too large. */
bool event_number(const char *text, size_t length, uint64_t *value);
