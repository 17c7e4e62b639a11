/* Words of --sort and --fields that are fields of tracepoints: "event.field/raw", "event.*", "field", "trace_fields". */
#pragma once
#include "analysis/column/columns.h"
#include "data/evlist.h"
#include "tracepoint/tracepoint.h"

struct field_columns {
	const struct evlist *evlist;
	struct tracepoints *tracepoints;  /* NULL: no field is known */
	bool raw;                         /* all fields as with "/raw" */
};

/* For struct column_request: `dynamic`, with a struct field_columns as context. */
int field_columns_add(void *context, struct columns *columns, const char *word, int level);
