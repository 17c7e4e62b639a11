#include "cmd/field_columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/evsel_name.h"

/* A tracepoint's field as a column of this event. */
static void add_field_column(struct columns *columns, uint32_t event, const struct tracepoint_field *field, bool raw, int level)
{
	uint32_t index = columns_add_sort(columns, &column_type_field, level);
	struct column *column = &columns->all.items[index];
	column->header = tracepoint_field_name(field);
	column->event = event;
	column->field = field;
	column->raw = raw;
}

static void add_all_fields(const struct field_columns *fields, struct columns *columns, uint32_t event, bool raw, int level)
{
	uint64_t id = fields->evlist->events.items[event].attr.config;
	const struct tracepoint_field *field;
	for (unsigned i = 0; (field = tracepoints_field_at(fields->tracepoints, id, i)); i++)
		add_field_column(columns, event, field, raw, level);
}

/* "%2", "sched:sched_switch", or a part of one event's name. */
static uint32_t find_event(const struct evlist *evlist, const char *name)
{
	char buffer[EVSEL_NAME_MAX];
	uint32_t found = UINT32_MAX;
	if (*name == '%') {
		unsigned long number = strtoul(name + 1, NULL, 0);
		return number <= evlist->events.count ? (uint32_t)(number ? number - 1 : 0) : UINT32_MAX;
	}
	for (uint32_t i = 0; i < evlist->events.count; i++) {
		const char *other = evsel_name(&evlist->events.items[i], buffer, sizeof buffer);
		if (strchr(name, ':') ? strcmp(other, name) == 0 : strstr(other, name) != NULL) {
			if (strchr(name, ':'))
				return i;
			if (found != UINT32_MAX)
				return UINT32_MAX;
			found = i;
		}
	}
	return found;
}

/* Of every tracepoint that has such a field. */
static int add_matching_fields(const struct field_columns *fields, struct columns *columns, const char *name, bool raw, int level)
{
	const struct evlist *evlist = fields->evlist;
	bool whole = strcmp(name, "trace_fields") == 0;
	int result = whole ? 0 : -1;
	for (uint32_t i = 0; fields->tracepoints && i < evlist->events.count; i++) {
		const struct evsel *evsel = &evlist->events.items[i];
		if (evsel->attr.type != ATTR_TRACEPOINT)
			continue;
		const struct tracepoint_field *field = whole ? NULL : tracepoints_field(fields->tracepoints, evsel->attr.config, name);
		if (whole)
			add_all_fields(fields, columns, i, raw, level);
		if (field) {
			add_field_column(columns, i, field, raw, level);
			result = 0;
		}
	}
	return result;
}

static int add_event_fields(const struct field_columns *fields, struct columns *columns, const char *event, const char *name, bool raw,
	int level)
{
	const struct evlist *evlist = fields->evlist;
	uint32_t index = find_event(evlist, event);
	if (!fields->tracepoints || index == UINT32_MAX || evlist->events.items[index].attr.type != ATTR_TRACEPOINT)
		return -1;
	if (strcmp(name, "*") == 0) {
		add_all_fields(fields, columns, index, raw, level);
		return 0;
	}
	const struct tracepoint_field *field = tracepoints_field(fields->tracepoints, evlist->events.items[index].attr.config, name);
	if (!field)
		return -1;
	add_field_column(columns, index, field, raw, level);
	return 0;
}

/* "event.field/raw", "event.*", "field", "trace_fields". */
int field_columns_add(void *context, struct columns *columns, const char *word, int level)
{
	const struct field_columns *fields = context;
	char *text = memory_string(word), *event = text, *field = strchr(text, '.');
	int result = -1;
	if (field)
		*field++ = '\0';
	else
		field = text;
	char *option = strchr(field, '/');
	if (option)
		*option++ = '\0';
	bool raw = option || fields->raw;
	if (option && strcmp(option, "raw") != 0)
		result = -1;
	else if (field == text || strcmp(field, "trace_fields") == 0)
		result = add_matching_fields(fields, columns, field, raw, level);
	else
		result = add_event_fields(fields, columns, event, field, raw, level);
	free(text);
	return result;
}
