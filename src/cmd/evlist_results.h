/* The events of a recording as a table: a row each, with every field of the attribute (docs/formats.md, perfuse.evlist). */
#pragma once
#include "analysis/table/table.h"
#include "base/arena.h"
#include "data/attr_text.h"
#include "data/evlist.h"
#include "tracepoint/tracepoint.h"

struct column_source;

struct evlist_results {
	struct results results;
	struct table table;
	const struct column_source *sources; /* one for each column */
	const struct evlist *evlist;
	const struct attr_names *names;
	const struct tracepoints *tracepoints; /* NULL: fields of tracepoints are left out */
	bool attr_names_only;                  /* events have no names of their own: made from the attributes */
	uint32_t detail_event;
	struct arena arena;
};

/* All that is passed is borrowed until fini. The results point into the struct: it must not move. */
void evlist_results_init(struct evlist_results *results, const struct evlist *evlist, const struct attr_names *names,
	const struct tracepoints *tracepoints, bool attr_names_only);
void evlist_results_fini(struct evlist_results *results);

/* The name of an event; buffer: EVSEL_NAME_MAX bytes. */
const char *evlist_event_name(const struct evsel *evsel, bool attr_names_only, char *buffer, size_t size);
