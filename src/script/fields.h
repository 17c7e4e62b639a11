/* -F of `script`: the fields that are shown for each class of events. Parses the option and checks it against the events of a recording.
 * Independent of samples; rows.h describes the fields. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "data/header.h"
#include "script/rows.h"

struct class_fields {
	uint64_t shown;          /* bits of enum field */
	uint64_t place;          /* the fields of shown that describe a place (FIELDS_OF_PLACE); 0 until the class is settled */
	uint64_t asked, refused; /* named for all classes: with or without '+'; with '-' */
	bool given;              /* -F named this class or all classes */
	bool wildcard;           /* the last -F named all classes */
};

struct fields {
	struct class_fields classes[CLASS_COUNT];
	uint64_t everywhere;     /* fields shown for each class that shows any field */
	bool chains;             /* call chains are shown */
};

/* Sets the fields that are shown by default. */
void fields_init(struct fields *fields);
/* Applies one argument of -F. notes: warnings, a line each. */
int fields_parse(struct fields *fields, const char *text, struct str *notes, struct error *err);

/* Removes default fields that the events do not have; fails if they do not have a field that was asked for. hide_chains: -G. The events
 * of a stream are not known yet: see fields_settle_event. */
int fields_settle(struct fields *fields, const struct header *header, bool hide_chains, struct error *err);
/* The same for an event that arrived in a stream, the last one of the list. */
int fields_settle_event(struct fields *fields, const struct header *header, uint32_t event, struct error *err);

/* Appends the words of -F, separated by ", ". */
void fields_words(struct str *to);

/* The fields that any class shows. */
uint64_t fields_shown(const struct fields *fields);
/* Whether symbol tables or debug information are needed. */
bool fields_show_names(const struct fields *fields);

