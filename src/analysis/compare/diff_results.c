#include "analysis/compare/diff_results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "data/evsel_name.h"

enum { RESULTS_VERSION = 1 };

enum value { VALUE_BASELINE, VALUE_BASE_PERIOD, VALUE_SHARE, VALUE_DELTA, VALUE_COMPUTED, VALUE_PERIOD, VALUE_LOW, VALUE_HIGH,
	VALUE_PROBABILITY, VALUE_CHANGED, VALUE_KEY };

static const struct table_column value_columns[] = {
	[VALUE_BASELINE] = { "baseline", "Baseline", NULL, CELL_SHARE },
	[VALUE_BASE_PERIOD] = { "base_period", "Base period", NULL, CELL_COUNT },
	[VALUE_SHARE] = { "share", "Share", NULL, CELL_SHARE },
	[VALUE_DELTA] = { "delta", "Delta", "percentage points", CELL_REAL },
	[VALUE_PERIOD] = { "period", "Period", NULL, CELL_COUNT },
	[VALUE_LOW] = { "low", "Low", "percentage points", CELL_REAL },
	[VALUE_HIGH] = { "high", "High", "percentage points", CELL_REAL },
	[VALUE_PROBABILITY] = { "p", "p", NULL, CELL_REAL },
	[VALUE_CHANGED] = { "changed", "Changed", NULL, CELL_FLAG },
};
static const struct table_column ratio_column = { "ratio", "Ratio", NULL, CELL_REAL };
static const struct table_column weighted_column = { "weighted", "Weighted diff", NULL, CELL_NUMBER };

struct shown_value {
	enum value value;
	uint32_t file;
	const struct column *key;
};

/* One event's table. Row i + 1 is shown[i]. */
struct event_table {
	const struct diff *diff;
	const struct diff_event *event;
	struct significance_value **significance; /* by row; NULL: not tested */
	struct shown_value *values;
	size_t *shown;
	size_t shown_count;
};

static struct cell real_cell(double value)
{
	return isfinite(value) ? (struct cell){ .kind = CELL_REAL, .real = value } : cell_absent();
}

static struct cell share_cell(const struct diff_item *item, uint64_t total)
{
	return (struct cell){ .kind = CELL_SHARE, .share = { item ? item->period : 0, total } };
}

static struct cell computed_cell(const struct diff *diff, const struct diff_row *row, uint32_t file)
{
	if (!row->items[file] || diff_row_is_new(row))
		return cell_absent();
	return diff->options.compute == DIFF_RATIO ? real_cell(row->values[file].change) : cell_number(row->values[file].weighted);
}

static struct cell tested_cell(const struct significance_value *tested, enum value value)
{
	switch (value) {
	case VALUE_LOW:
		return real_cell(tested->interval.low);
	case VALUE_HIGH:
		return real_cell(tested->interval.high);
	case VALUE_PROBABILITY:
		return real_cell(tested->probability);
	default:
		return cell_flag(tested->changed);
	}
}

static struct cell row_cell(void *context, uint64_t number, size_t column, struct str *scratch)
{
	const struct event_table *table = context;
	const struct shown_value *shown = &table->values[column];
	size_t at = table->shown[number - 1];
	const struct diff_row *row = &table->event->rows[at];
	const struct diff_item *item = row->items[shown->file];
	switch (shown->value) {
	case VALUE_KEY:
		return shown->key->type->value(table->diff->profiles[row->shown->file], shown->key, row->shown->entry, scratch);
	case VALUE_BASELINE:
		return share_cell(row->items[0], table->event->base_total);
	case VALUE_SHARE:
		return share_cell(item, table->event->sides[shown->file].total);
	case VALUE_BASE_PERIOD:
	case VALUE_PERIOD:
		return cell_count(item ? item->period : 0);
	case VALUE_DELTA:
		return real_cell(diff_share_change(table->event, row, shown->file));
	case VALUE_COMPUTED:
		return computed_cell(table->diff, row, shown->file);
	default:
		return tested_cell(&table->significance[at][shown->file], shown->value);
	}
}

static size_t row_count(void *context, uint64_t parent)
{
	const struct event_table *table = context;
	return parent == TABLE_TOP ? table->shown_count : 0;
}

typedef VEC(struct shown_value) shown_values;
typedef VEC(struct table_column) table_columns;

struct column_list {
	struct diff_results *results;
	const struct diff *diff;
	shown_values values;
	table_columns columns;
};

/* With several new files the columns of each have its number. */
static void add_value(struct column_list *list, enum value value, uint32_t file)
{
	struct table_column column = value_columns[value];
	if (value == VALUE_COMPUTED)
		column = list->diff->options.compute == DIFF_RATIO ? ratio_column : weighted_column;
	if (list->diff->file_count > 2 && file) {
		CLEANUP_STR struct str name = { 0 };
		str_printf(&name, "%s:%u", column.name, file);
		column.name = arena_string(&list->results->arena, str_text(&name), name.len);
		str_clear(&name);
		str_printf(&name, "%s/%u", column.title, file);
		column.title = arena_string(&list->results->arena, str_text(&name), name.len);
	}
	vec_push(&list->values, ((struct shown_value){ .value = value, .file = file }));
	vec_push(&list->columns, column);
}

static void add_values(struct column_list *list, bool tested)
{
	add_value(list, VALUE_BASELINE, 0);
	add_value(list, VALUE_BASE_PERIOD, 0);
	for (uint32_t file = 1; file < list->diff->file_count; file++) {
		add_value(list, VALUE_SHARE, file);
		add_value(list, VALUE_PERIOD, file);
		add_value(list, VALUE_DELTA, file);
		if (list->diff->options.compute >= DIFF_RATIO)
			add_value(list, VALUE_COMPUTED, file);
		for (enum value value = VALUE_LOW; tested && value <= VALUE_CHANGED; value++)
			add_value(list, value, file);
	}
}

static void add_keys(struct column_list *list)
{
	const struct columns *columns = list->diff->profiles[0]->options.columns;
	for (size_t i = 0; i < columns->fields.count; i++) {
		const struct column *column = &columns->all.items[columns->fields.items[i]];
		const struct column_type *type = column->type;
		if (type->class == COLUMN_MEASURE || column->elided)
			continue;
		vec_push(&list->values, ((struct shown_value){ .value = VALUE_KEY, .key = column }));
		vec_push(&list->columns, ((struct table_column){ type->name, column->header, type->unit, type->kind }));
	}
}

static void fill_table(struct diff_results *results, const struct diff *diff, const struct diff_event *event,
	struct significance_value **significance, struct table *table)
{
	struct event_table *context = arena_alloc(&results->arena, sizeof *context);
	struct column_list list = { .results = results, .diff = diff };
	char buffer[EVSEL_NAME_MAX];
	const char *name = evsel_name(&session_evlist(diff->profiles[0]->session)->events.items[event->event], buffer, sizeof buffer);
	const struct table_fact facts[] = { { "event", cell_text(arena_string(&results->arena, name, strlen(name))) } };
	*context = (struct event_table){ .diff = diff, .event = event, .significance = significance };
	add_values(&list, significance);
	add_keys(&list);
	context->values = arena_copy(&results->arena, list.values.items, list.values.count * sizeof *list.values.items);
	context->shown = arena_alloc(&results->arena, (event->row_count + 1) * sizeof *context->shown);
	for (size_t i = 0; i < event->row_count; i++)
		if (diff_row_is_shown(&event->rows[i]))
			context->shown[context->shown_count++] = i;
	*table = (struct table){
		.name = "entries", .facts = arena_copy(&results->arena, facts, sizeof facts), .fact_count = 1, .context = context,
		.columns = arena_copy(&results->arena, list.columns.items, list.columns.count * sizeof *list.columns.items),
		.column_count = list.columns.count, .row_count = row_count, .row = table_row_in_order, .cell = row_cell,
	};
	vec_fini(&list.values);
	vec_fini(&list.columns);
}

static void add_files(struct diff_results *results, const struct diff *diff, const char *const *paths)
{
	struct table_fact *facts = arena_alloc(&results->arena, diff->file_count * sizeof *facts);
	for (uint32_t i = 0; i < diff->file_count; i++) {
		CLEANUP_STR struct str name = { 0 };
		str_printf(&name, "file:%u", i);
		facts[i] = (struct table_fact){ arena_string(&results->arena, str_text(&name), name.len), cell_text(paths[i]) };
	}
	results->results.facts = facts;
	results->results.fact_count = diff->file_count;
}

void diff_results_init(struct diff_results *results, const struct diff *diff, const struct significance *significance,
	const char *const *paths)
{
	*results = (struct diff_results){ .results = { .schema = "perfuse.diff", .version = RESULTS_VERSION } };
	struct table *tables = arena_alloc(&results->arena, (diff->event_count + 1) * sizeof *tables);
	for (size_t i = 0; i < diff->event_count; i++)
		fill_table(results, diff, &diff->events[i], significance ? significance->values[i] : NULL, &tables[i]);
	results->results.tables = tables;
	results->results.table_count = diff->event_count;
	add_files(results, diff, paths);
}

void diff_results_fini(struct diff_results *results)
{
	arena_fini(&results->arena);
	*results = (struct diff_results){ 0 };
}
