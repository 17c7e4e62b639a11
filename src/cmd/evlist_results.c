#include "cmd/evlist_results.h"

#include "data/evsel_name.h"

enum { RESULTS_VERSION = 1 };

/* What a column shows: of the event, or of one field of its attribute. */
enum column_part {
	PART_EVENT,
	PART_GROUP,       /* the row of the group's leader */
	PART_GROUP_NAME,
	PART_FIELD,
	PART_FIELD_OTHER, /* the other member of the field's union */
	PART_FIELD_NAME,  /* of a type or a config */
};

struct column_source {
	enum column_part part;
	const struct attr_field *field;
};

const char *evlist_event_name(const struct evsel *evsel, bool attr_names_only, char *buffer, size_t size)
{
	return attr_names_only ? attr_name(&evsel->attr, buffer, size) : evsel_name(evsel, buffer, size);
}

static struct cell name_cell(const struct attr_field *field, const struct evlist_results *results, const struct attr *attr,
	struct str *scratch)
{
	attr_field_name(field, attr, results->names, scratch);
	return cell_text(scratch->len || field->form == ATTR_FIELD_BITS ? str_text(scratch) : NULL);
}

static struct cell field_cell(const struct attr_field *field, const struct evlist_results *results, const struct attr *attr,
	struct str *scratch)
{
	uint64_t value = attr_field_value(field, attr);
	switch (field->form) {
	case ATTR_FIELD_FLAG:
		return cell_flag(value);
	case ATTR_FIELD_SIGNED:
		return cell_number((int32_t)value);
	case ATTR_FIELD_BITS:
		return name_cell(field, results, attr, scratch);
	default:
		return cell_count(value);
	}
}

static struct cell event_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	const struct evlist_results *results = context;
	const struct column_source *source = &results->sources[column];
	const struct evsel *evsel = &results->evlist->events.items[row - 1];
	char buffer[EVSEL_NAME_MAX];
	switch (source->part) {
	case PART_EVENT:
		str_puts(scratch, evlist_event_name(evsel, results->attr_names_only, buffer, sizeof buffer));
		return cell_text(str_text(scratch));
	case PART_GROUP:
		return cell_count(evsel->leader);
	case PART_GROUP_NAME:
		return cell_text(results->evlist->events.items[evsel->leader].group_name);
	case PART_FIELD_NAME:
		return name_cell(source->field, results, &evsel->attr, scratch);
	default:
		if (attr_field_is_other(source->field, &evsel->attr) != (source->part == PART_FIELD_OTHER))
			return cell_text(NULL);
		return field_cell(source->field, results, &evsel->attr, scratch);
	}
}

static size_t event_count(void *context, uint64_t parent)
{
	const struct evlist_results *results = context;
	return parent == TABLE_TOP ? results->evlist->events.count : 0;
}

static const struct tracepoint_field *trace_field(const struct evlist_results *results, size_t index)
{
	const struct attr *attr = &results->evlist->events.items[results->detail_event].attr;
	return tracepoints_field_at(results->tracepoints, attr->config, (unsigned)index);
}

static size_t trace_field_count(void *context, uint64_t parent)
{
	size_t count = 0;
	while (parent == TABLE_TOP && trace_field(context, count))
		count++;
	return count;
}

static struct cell trace_field_cell(void *context, uint64_t row, __attribute__((unused)) size_t column,
	__attribute__((unused)) struct str *scratch)
{
	return cell_text(tracepoint_field_name(trace_field(context, row - 1)));
}

static bool event_trace_fields(void *context, uint64_t row, struct table *detail)
{
	static const struct table_column columns[] = { { "name", "Name", NULL, CELL_TEXT } };
	struct evlist_results *results = context;
	results->detail_event = (uint32_t)row - 1;
	if (!results->tracepoints || results->evlist->events.items[row - 1].attr.type != ATTR_TRACEPOINT)
		return false;
	*detail = (struct table){ .name = "trace_fields", .columns = columns, .column_count = 1, .context = results,
		.row_count = trace_field_count, .row = table_row_in_order, .cell = trace_field_cell };
	return true;
}

struct column_list {
	VEC(struct table_column) columns;
	VEC(struct column_source) sources;
};

static void add_column(struct column_list *list, const char *name, enum cell_kind kind, enum column_part part,
	const struct attr_field *field)
{
	vec_push(&list->columns, ((struct table_column){ .name = name, .title = name, .kind = kind }));
	vec_push(&list->sources, ((struct column_source){ part, field }));
}

static void add_field_columns(struct column_list *list, const struct attr_field *field)
{
	static const enum cell_kind kinds[] = {
		[ATTR_FIELD_COUNT] = CELL_COUNT, [ATTR_FIELD_HEX] = CELL_COUNT, [ATTR_FIELD_SIGNED] = CELL_NUMBER,
		[ATTR_FIELD_FLAG] = CELL_FLAG, [ATTR_FIELD_PRECISE] = CELL_COUNT, [ATTR_FIELD_BITS] = CELL_TEXT,
		[ATTR_FIELD_TYPE] = CELL_COUNT, [ATTR_FIELD_CONFIG] = CELL_COUNT,
	};
	add_column(list, field->name, kinds[field->form], PART_FIELD, field);
	if (field->other)
		add_column(list, field->other, kinds[field->form], PART_FIELD_OTHER, field);
	if (field->form == ATTR_FIELD_TYPE)
		add_column(list, "type_name", CELL_TEXT, PART_FIELD_NAME, field);
	if (field->form == ATTR_FIELD_CONFIG)
		add_column(list, "config_name", CELL_TEXT, PART_FIELD_NAME, field);
}

void evlist_results_init(struct evlist_results *results, const struct evlist *evlist, const struct attr_names *names,
	const struct tracepoints *tracepoints, bool attr_names_only)
{
	struct column_list list = { 0 };
	add_column(&list, "event", CELL_TEXT, PART_EVENT, NULL);
	add_column(&list, "group", CELL_COUNT, PART_GROUP, NULL);
	add_column(&list, "group_name", CELL_TEXT, PART_GROUP_NAME, NULL);
	for (size_t i = 0; i < attr_field_count; i++)
		add_field_columns(&list, &attr_fields[i]);
	*results = (struct evlist_results){ .evlist = evlist, .names = names, .tracepoints = tracepoints,
		.attr_names_only = attr_names_only };
	results->sources = arena_copy(&results->arena, list.sources.items, list.sources.count * sizeof *list.sources.items);
	results->table = (struct table){ .name = "events", .context = results, .row_count = event_count, .row = table_row_in_order,
		.cell = event_cell, .detail = event_trace_fields, .column_count = list.columns.count,
		.columns = arena_copy(&results->arena, list.columns.items, list.columns.count * sizeof *list.columns.items) };
	results->results = (struct results){ .schema = "perfuse.evlist", .version = RESULTS_VERSION, .tables = &results->table,
		.table_count = 1 };
	vec_fini(&list.columns);
	vec_fini(&list.sources);
}

void evlist_results_fini(struct evlist_results *results)
{
	arena_fini(&results->arena);
}
