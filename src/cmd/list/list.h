/* What the parts of `list` share: the options, one run, and texts in perf's layout. */
#pragma once
#include "cmd/command.h"
#include "event/catalogue.h"

struct list_options {
	bool names_only, json, describe, describe_long, details, deprecated;
	const char *output, *unit, *cpu_type;
	int debug;
};

/* One run. */
struct listing {
	const struct list_options *options;
	struct catalogue catalogue;
	struct writer *out;
	const char *unit;          /* pattern of PMUs; NULL: all */
	const char *name;          /* pattern of names; NULL: all */
	const char *last_topic;
	bool any;                  /* of JSON: an event has been printed */
	bool metrics, groups;      /* metrics, and their groups, are wanted */
	const char *last_group;    /* of the metric before; NULL: none was printed */
};

enum { LIST_INDENT = 8, LIST_TYPE_COLUMN = 53 };

bool list_matches(const char *pattern, const char *text, int flags);
/* Prints words in lines of the terminal's width, the first of which begins at the indent. */
void list_print_wrapped(struct writer *out, const char *text);
/* "[text. Unit: unit]"; unit NULL: none. */
void list_print_description(struct writer *out, const char *text, const char *unit);

struct list_member {
	const char *key, *value;
};

/* A JSON object of the members whose value is not NULL. */
void list_print_object(struct listing *listing, const struct list_member *members, size_t count);
void list_print_event(struct listing *listing, const struct catalogue_event *event);
/* The metrics that match the name, by group. */
void list_print_metrics(struct listing *listing);
/* The probe points of the build-id cache's programs. */
void list_print_probes(const struct cli *cli, struct listing *listing);
