/* Terms between slashes: "period=10,call-graph=dwarf,umask=1". Internal to event/. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "event/event.h"
#include "event/event_lexer.h"

struct event_term {
	enum event_term_kind {
		TERM_OF_PMU,          /* a name of the PMU: a format or an event */
		TERM_OF_ALL,          /* a row of the table of terms that are valid for all events */
		TERM_RAW,             /* "r1a8": an event of the PMU or its config word */
		TERM_CACHE,           /* "L1-dcache-loads" */
		TERM_HARDWARE,        /* "cycles" */
		TERM_DRIVER,          /* "@word" */
	} kind;
	const char *name;             /* in the arena of the events */
	const char *text;             /* the value as text; NULL: a number */
	uint64_t number;              /* 1 without a value; TERM_HARDWARE: the event's number */
	bool no_value;
	bool used;                    /* its value replaced the '?' of a named event */
	const struct term_row *row;   /* TERM_OF_ALL */
	size_t at, value_at;          /* offsets in the text */
};

struct event_term_list {
	VEC(struct event_term) terms;
};

/* What the terms belong to. */
enum event_term_target { TERMS_OF_PMU, TERMS_OF_NUMBER, TERMS_OF_TRACEPOINT };

/* NULL: no term that is valid for all events. */
const struct term_row *event_term_row(const char *name, size_t length);
/* Parses one term; *token is its first token, and after it the one that follows. Returns 0; 1: *token does not continue a term; -1:
 * *err. */
int event_term_parse(struct arena *arena, struct event_lexer *lexer, struct event_token *token, struct event_term *term,
	struct event_error *err);
/* Applies terms to an event whose attr.type is set. pmu: NULL, except for TERMS_OF_PMU. < 0: err->at and err->what are set. */
int event_terms_apply(struct events *events, struct event *event, struct pmu *pmu, const struct event_term_list *list,
	enum event_term_target target, struct event_error *err);
