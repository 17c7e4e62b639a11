/* The columns of a table that has samples, period and share of each event, between columns of its own. */
#pragma once
#include "analysis/annotate/hits.h"
#include "analysis/table/table.h"
#include "base/arena.h"
#include "base/vec.h"

enum event_column { EVENT_SAMPLES, EVENT_PERIOD, EVENT_SHARE, EVENT_COLUMNS };

/* A zeroed one is empty. The arrays move while columns are added. */
struct event_columns {
	VEC(struct table_column) columns;
	VEC(uint32_t) events;      /* in the order of their columns, EVENT_COLUMNS each */
	struct arena arena;
};

void event_columns_add_own(struct event_columns *columns, const struct table_column *own, size_t count);
/* name: of the event, borrowed; it follows the names of the columns from the second event on. */
void event_columns_add(struct event_columns *columns, uint32_t event, const char *name);
/* total: of the event's periods, for the share. */
struct cell event_columns_cell(enum event_column column, struct hit_count count, uint64_t total);
void event_columns_fini(struct event_columns *columns);
