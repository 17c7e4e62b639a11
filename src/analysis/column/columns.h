/* Columns of a report: the words of --sort and --fields. One row of the table in columns.c describes one: its name, its header, how a
 * sample is keyed by it, how two entries compare, the value of its cells. Knows no option table and no terminal. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "analysis/entry/column.h"
#include "base/error.h"

struct column_request {
	const char *sort, *fields; /* as given; NULL: not */
	const char *default_sort;  /* NULL: the mode's own */
	bool children, show_samples, show_period, show_cpu_utilization, with_parent, raw_trace;
	enum sort_mode mode;
	bool tracepoints;         /* all events are: the default is their text */
	/* Adds a tracepoint's fields for a word that is not a column; < 0: the word is not a field either. */
	int (*dynamic)(void *context, struct columns *columns, const char *word, int level);
	void *context;
	const char *invalid;      /* set on failure: "--sort" or "--fields" */
};

/* Fills columns. ERROR_USAGE: "Unknown --sort key: `x'". */
int columns_setup(struct columns *columns, struct column_request *request, struct error *err);
/* All words that --sort accepts, including measures, separated by blanks. */
void columns_words(struct str *to);
void columns_fini(struct columns *columns);
/* Whether several threads may compare entries and make cells at the same time. */
bool columns_are_shared(const struct columns *columns);
/* Removes the columns of accumulated sums: the samples have no chains. */
void columns_cancel_children(struct columns *columns, const char *fields);

/* Adds a sort column; returns its index. */
uint32_t columns_add_sort(struct columns *columns, const struct column_type *type, int level);

extern const struct column_type column_types[];
extern const unsigned column_type_count;
extern const struct column_type column_type_field; /* of tracepoints' fields */
