#include "analysis/profile/results.h"

#include <string.h>

#include "analysis/column/cells.h"
#include "analysis/column/source.h"
#include "analysis/entry/names.h"
#include "data/evsel_name.h"

enum { RESULTS_VERSION = 1 };

/* A column of the table: one of the report's columns, for a measure that of one member of the event group. */
struct shown_column {
	const struct column *column;
	uint32_t member;
};

/* An entry that passes all filters. Its index in the list is the number of its row. */
struct shown_entry {
	const struct entry *entry;
	uint64_t first_child;
	size_t child_count;
};

/* One event's table. */
struct event_table {
	const struct profile *profile;
	const struct hist *hist;
	struct shown_column *columns;
	struct shown_entry *entries;  /* [TABLE_TOP]: above the top rows */
	const struct chain_tree *chain; /* of the row whose detail was requested last */
};

static const struct hist *member_of(const struct event_table *table, uint32_t member)
{
	return table->hist->members ? table->hist->members[member] : table->hist;
}

static struct cell measure_cell(const struct event_table *table, const struct entry *entry, const struct shown_column *shown)
{
	const struct profile *profile = table->profile;
	enum measure measure = shown->column->type->measure;
	const struct entry *of = !shown->member ? entry : entry->pairs ? entry->pairs[shown->member] : NULL;
	uint64_t value = of ? entry_measure(of, measure) : 0;
	if (measure == MEASURE_CHILDREN && profile->options.iteration != ITERATE_CALLERS)
		return (struct cell){ .kind = CELL_ABSENT };
	if (measure <= MEASURE_CHILDREN)
		return (struct cell){ .kind = CELL_SHARE, .share = { value, hist_total(profile, member_of(table, shown->member)) } };
	if (measure >= MEASURE_WEIGHT1)
		return (struct cell){ .kind = CELL_REAL, .real = of && of->self.count ? (double)value / of->self.count : 0 };
	return cell_count(value);
}

static struct cell entry_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	const struct event_table *table = context;
	const struct shown_column *shown = &table->columns[column];
	const struct entry *entry = table->entries[row].entry;
	if (shown->column->type->class == COLUMN_MEASURE)
		return measure_cell(table, entry, shown);
	return shown->column->type->value(table->profile, shown->column, entry, scratch);
}

static size_t entry_count(void *context, uint64_t parent)
{
	const struct event_table *table = context;
	return table->entries[parent].child_count;
}

static uint64_t entry_row(void *context, uint64_t parent, size_t index)
{
	const struct event_table *table = context;
	return table->entries[parent].first_child + index;
}

/* Rows of a chain's frames are numbered by node, and by frame within the node. */
enum { FRAME_BITS = 20 };

static uint64_t frame_number(uint32_t node, uint32_t frame)
{
	return (uint64_t)node << FRAME_BITS | frame;
}

enum { CALLER_PERIOD, CALLER_SAMPLES, CALLER_PLACE, CALLER_LINE };

static const struct table_column caller_columns[] = {
	[CALLER_PERIOD] = { "period", "Period", NULL, CELL_COUNT },
	[CALLER_SAMPLES] = { "samples", "Samples", NULL, CELL_COUNT },
	[CALLER_PLACE] = { "place", "Place", NULL, CELL_PLACE },
	[CALLER_LINE] = { "line", "Source:Line", NULL, CELL_TEXT },
};

static struct cell caller_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	const struct event_table *table = context;
	const struct profile *profile = table->profile;
	const struct chain_node *node = &table->chain->nodes[row >> FRAME_BITS];
	uint32_t id = table->chain->places[node->first_place + (row & ((1u << FRAME_BITS) - 1))];
	const struct place *place = stacks_place_at(profile->collected.stacks, id);
	switch (column) {
	case CALLER_PERIOD:
		return cell_count(chain_total(node));
	case CALLER_SAMPLES:
		return cell_count(node->count + node->children_count);
	case CALLER_PLACE:
		return place_cell(profile, place->module, place->symbol, place->map, place->ip, (char)place->level);
	default:
		return cell_text(place->map ? profile_place_line_text(profile, id) : NULL);
	}
}

/* A node without frames is the root alone: TABLE_TOP. */
static size_t caller_count(void *context, uint64_t parent)
{
	const struct event_table *table = context;
	const struct chain_node *node = &table->chain->nodes[parent >> FRAME_BITS];
	uint64_t next = (parent & ((1u << FRAME_BITS) - 1)) + 1;
	return next < node->place_count ? 1 : node->child_count;
}

static uint64_t caller_row(void *context, uint64_t parent, size_t index)
{
	const struct event_table *table = context;
	const struct chain_node *node = &table->chain->nodes[parent >> FRAME_BITS];
	uint64_t next = (parent & ((1u << FRAME_BITS) - 1)) + 1;
	return next < node->place_count ? parent + 1 : frame_number(table->chain->order[node->first_child + index], 0);
}

static bool entry_callers(void *context, uint64_t row, struct table *detail)
{
	struct event_table *table = context;
	const struct chain_options *options = &table->profile->options.chain;
	table->chain = table->entries[row].entry->chain;
	if (!table->chain || (options->mode != CHAIN_GRAPH && options->mode != CHAIN_FRACTAL))
		return false;
	*detail = (struct table){
		.name = "callers", .tree = true, .columns = caller_columns,
		.column_count = options->key == CHAIN_FUNCTION ? CALLER_LINE : CALLER_LINE + 1,
		.context = table, .row_count = caller_count, .row = caller_row, .cell = caller_cell,
	};
	return true;
}

static bool is_shown(const struct event_table *table, const struct entry *entry)
{
	return !entry->filtered && hist_percent(table->profile, table->hist, entry) >= table->profile->options.min_percent;
}

/* Level by level: the children of the i-th entry of the list are added to its end. */
static void list_entries(struct profile_results *results, struct event_table *table)
{
	VEC(struct shown_entry) list = { 0 };
	vec_push(&list, ((struct shown_entry){ 0 }));
	for (size_t i = 0; i < list.count; i++) {
		const struct entry *parent = list.items[i].entry;
		struct entry *const *children = parent ? parent->children : table->hist->entries;
		size_t count = parent ? parent->child_count : table->hist->count;
		list.items[i].first_child = list.count;
		for (size_t c = 0; c < count; c++)
			if (is_shown(table, children[c]))
				vec_push(&list, ((struct shown_entry){ .entry = children[c] }));
		list.items[i].child_count = list.count - list.items[i].first_child;
	}
	table->entries = arena_copy(&results->arena, list.items, list.count * sizeof *list.items);
	vec_fini(&list);
}

static const char *event_name(struct profile_results *results, const struct profile *profile, uint32_t event)
{
	char name[EVSEL_NAME_MAX];
	const char *text = evsel_name(&session_evlist(profile->session)->events.items[event], name, sizeof name);
	return arena_string(&results->arena, text, strlen(text));
}

/* A column of a measure is repeated for each member of an event group, from the second one on with the member's name. */
static struct table_column table_column(struct profile_results *results, const struct event_table *table, const struct column *column,
	uint32_t member)
{
	static const enum cell_kind kinds[MEASURE_COUNT] = {
		[MEASURE_SAMPLES] = CELL_COUNT, [MEASURE_PERIOD] = CELL_COUNT, [MEASURE_WEIGHT1] = CELL_REAL, [MEASURE_WEIGHT2] = CELL_REAL,
		[MEASURE_WEIGHT3] = CELL_REAL,
	};
	const struct column_type *type = column->type;
	struct table_column made = { .name = type->name, .title = column->header, .unit = type->unit, .kind = type->kind };
	if (type->class == COLUMN_MEASURE) {
		made.kind = type->measure <= MEASURE_CHILDREN ? CELL_SHARE : kinds[type->measure];
		made.unit = type->measure == MEASURE_PERIOD ? event_name(results, table->profile, member_of(table, member)->event) : NULL;
	}
	if (type->class == COLUMN_FIELD)
		made.name = column->header;
	if (member) {
		CLEANUP_STR struct str name = { 0 };
		str_printf(&name, "%s:%s", type->name, event_name(results, table->profile, member_of(table, member)->event));
		made.name = arena_string(&results->arena, str_text(&name), name.len);
	}
	return made;
}

static void list_columns(struct profile_results *results, struct event_table *event, struct table *table)
{
	const struct columns *columns = event->profile->options.columns;
	VEC(struct shown_column) shown = { 0 };
	VEC(struct table_column) made = { 0 };
	for (size_t i = 0; i < columns->fields.count; i++) {
		const struct column *column = &columns->all.items[columns->fields.items[i]];
		uint32_t members = column->type->class == COLUMN_MEASURE && event->hist->members ? event->hist->member_count : 1;
		for (uint32_t member = 0; member < members && !column_skipped(column, event->hist); member++) {
			vec_push(&shown, ((struct shown_column){ column, member }));
			vec_push(&made, table_column(results, event, column, member));
		}
	}
	event->columns = arena_copy(&results->arena, shown.items, shown.count * sizeof *shown.items);
	table->columns = arena_copy(&results->arena, made.items, made.count * sizeof *made.items);
	table->column_count = made.count;
	vec_fini(&shown);
	vec_fini(&made);
}

static void fill_table(struct profile_results *results, const struct profile *profile, const struct hist *hist, struct table *table)
{
	struct event_table *event = arena_alloc(&results->arena, sizeof *event);
	*event = (struct event_table){ .profile = profile, .hist = hist };
	*table = (struct table){ .name = "entries", .tree = profile->options.hierarchy,
		.context = event, .row_count = entry_count, .row = entry_row, .cell = entry_cell };
	if (profile->options.use_chains)
		table->detail = entry_callers;
	const struct table_fact facts[] = {
		{ "event", cell_text(event_name(results, profile, hist->event)) },
		{ "samples", cell_count(profile->options.relative ? hist->shown_samples : hist->samples) },
		{ "period", cell_count(profile->options.relative ? hist->shown_period : hist->total_period) },
	};
	table->facts = arena_copy(&results->arena, facts, sizeof facts);
	table->fact_count = sizeof facts / sizeof *facts;
	list_columns(results, event, table);
	list_entries(results, event);
}

enum { JOINED_SAMPLES, JOINED_SYMBOL, JOINED_ADDRESS, JOINED_MODULE };

static const struct table_column joined_columns[] = {
	[JOINED_SAMPLES] = { "samples", "Samples", NULL, CELL_COUNT },
	[JOINED_SYMBOL] = { "symbol", "Symbol", NULL, CELL_TEXT },
	[JOINED_ADDRESS] = { "address", "Address", NULL, CELL_ADDRESS },
	[JOINED_MODULE] = { "dso", "Shared Object", NULL, CELL_TEXT },
};

static size_t joined_row_count(void *context, uint64_t parent)
{
	const struct profile *profile = context;
	return parent == TABLE_TOP ? profile->joined.count : 0;
}

static struct cell joined_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	const struct profile *profile = context;
	const struct joined_function *function = &profile->joined.items[row - 1];
	switch (column) {
	case JOINED_SAMPLES:
		return cell_count(function->samples);
	case JOINED_SYMBOL:
		return cell_text(function->symbol ? profile_symbol_name(profile, function->module, function->symbol) : NULL);
	case JOINED_ADDRESS:
		return (struct cell){ .kind = function->symbol ? CELL_ABSENT : CELL_ADDRESS, .count = function->address };
	default:
		return cell_text(function->module == MODULE_ID_NONE ? NULL : profile_module_name(profile, function->module));
	}
}

static void fill_joined(struct profile_results *results, const struct profile *profile, struct table *table)
{
	const struct table_fact samples = { "samples", cell_count(profile->joined.samples) };
	*table = (struct table){ .name = "joined", .facts = arena_copy(&results->arena, &samples, sizeof samples), .fact_count = 1,
		.columns = joined_columns, .column_count = sizeof joined_columns / sizeof *joined_columns,
		.context = (void *)profile, .row_count = joined_row_count, .row = table_row_in_order, .cell = joined_cell };
}

void profile_results_init(struct profile_results *results, const struct profile *profile, uint64_t lost_samples)
{
	*results = (struct profile_results){ .results = { .schema = "perfuse.report", .version = RESULTS_VERSION } };
	struct table *tables = arena_alloc(&results->arena, (profile->folded.hist_count + 1) * sizeof *tables);
	const struct table_fact lost = { "lost_samples", cell_count(lost_samples) };
	for (size_t i = 0; i < profile->folded.hist_count; i++)
		if (hist_is_reported(profile, &profile->folded.hists[i]))
			fill_table(results, profile, &profile->folded.hists[i], &tables[results->results.table_count++]);
	if (profile->joined.samples)
		fill_joined(results, profile, &tables[results->results.table_count++]);
	results->results.tables = tables;
	results->results.facts = arena_copy(&results->arena, &lost, sizeof lost);
	results->results.fact_count = 1;
}

void profile_results_fini(struct profile_results *results)
{
	arena_fini(&results->arena);
	*results = (struct profile_results){ 0 };
}
