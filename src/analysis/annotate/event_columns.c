#include "analysis/annotate/event_columns.h"

#include <stdio.h>

static const struct table_column of_event[EVENT_COLUMNS] = {
	[EVENT_SAMPLES] = { "samples", "Samples", NULL, CELL_COUNT },
	[EVENT_PERIOD] = { "period", "Period", NULL, CELL_COUNT },
	[EVENT_SHARE] = { "share", "Percent", NULL, CELL_SHARE },
};

void event_columns_add_own(struct event_columns *columns, const struct table_column *own, size_t count)
{
	for (size_t i = 0; i < count; i++)
		vec_push(&columns->columns, own[i]);
}

void event_columns_add(struct event_columns *columns, uint32_t event, const char *name)
{
	bool repeated = columns->events.count != 0;
	vec_push(&columns->events, event);
	for (unsigned i = 0; i < EVENT_COLUMNS; i++) {
		struct table_column column = of_event[i];
		char text[512];
		if (repeated) {
			int n = snprintf(text, sizeof text, "%s:%s", column.name, name);
			column.name = arena_string(&columns->arena, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
		}
		if (i == EVENT_PERIOD)
			column.unit = name;
		vec_push(&columns->columns, column);
	}
}

struct cell event_columns_cell(enum event_column column, struct hit_count count, uint64_t total)
{
	if (column == EVENT_SHARE)
		return (struct cell){ .kind = CELL_SHARE, .share = { count.period, total } };
	return cell_count(column == EVENT_SAMPLES ? count.samples : count.period);
}

void event_columns_fini(struct event_columns *columns)
{
	vec_fini(&columns->columns);
	vec_fini(&columns->events);
	arena_fini(&columns->arena);
}
