#include "cmd/code_page.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/annotate/line_sums.h"
#include "analysis/entry/names.h"
#include "base/memory.h"
#include "cmd/code_arrows.h"
#include "data/evsel_name.h"
#include "render/tui/view.h"

enum code_column {
	CODE_SHARE, CODE_HITS, CODE_OF_ALL, CODE_HITS_OF_ALL, CODE_SAMPLES, CODE_PERIOD, CODE_OF_LINE, CODE_IPC, CODE_CYCLES, CODE_RANGE,
	CODE_ADDRESS, CODE_OFFSET, CODE_PLACE, CODE_PATH, CODE_JUMPS, CODE_ARROWS, CODE_TEXT, CODE_TARGET, CODE_CALLEE, CODE_COLUMNS
};

static const struct table_column code_columns[CODE_COLUMNS] = {
	[CODE_SHARE] = { "overhead", "Percent", NULL, CELL_SHARE },
	[CODE_HITS] = { "sample_share", "Percent, samples", NULL, CELL_SHARE },
	[CODE_OF_ALL] = { "global", "Percent of all", NULL, CELL_SHARE },
	[CODE_HITS_OF_ALL] = { "global_sample_share", "Percent of all, samples", NULL, CELL_SHARE },
	[CODE_SAMPLES] = { "samples", "Samples", NULL, CELL_COUNT },
	[CODE_PERIOD] = { "period", "Period", NULL, CELL_COUNT },
	[CODE_OF_LINE] = { "line_overhead", "Percent of line", NULL, CELL_SHARE },
	[CODE_IPC] = { "ipc", "IPC", NULL, CELL_REAL },
	[CODE_CYCLES] = { "cycles", "Cycles", NULL, CELL_COUNT },
	[CODE_RANGE] = { "cycles_range", "Min/Max", NULL, CELL_TEXT },
	[CODE_ADDRESS] = { "address", "Address", NULL, CELL_ADDRESS },
	[CODE_OFFSET] = { "offset", "Offset", NULL, CELL_ADDRESS },
	[CODE_PLACE] = { "line", "Source:Line", NULL, CELL_TEXT },
	[CODE_PATH] = { "path", "Source Path:Line", NULL, CELL_TEXT },
	[CODE_JUMPS] = { "jump_sources", "Jumps", NULL, CELL_COUNT },
	[CODE_ARROWS] = { "arrows", "", NULL, CELL_TEXT },
	[CODE_TEXT] = { "code", "Code", NULL, CELL_TEXT },
	[CODE_TARGET] = { "target_line", "Target", NULL, CELL_COUNT },
	[CODE_CALLEE] = { "callee", "Callee", NULL, CELL_PLACE },
};

struct code_table {
	const struct annotation *annotation;
	struct hit_count whole;    /* of the event, in all functions */
	uint32_t event;
	struct line_sums lines;
	struct code_arrows arrows;
	enum code_column shown[CODE_COLUMNS];
	struct table_column columns[CODE_COLUMNS];
	size_t column_count;
};

static size_t line_count(void *context, uint64_t parent)
{
	const struct code_table *table = context;
	return parent == TABLE_TOP ? table->annotation->lines.count : 0;
}

/* "   mov    %rax,(%rdi)"; source lines begin at the left. */
static struct cell text_cell(const struct annotated_line *line, struct str *scratch)
{
	if (line->kind == ANNOTATED_SOURCE)
		return cell_text(line->text);
	if (line->kind == ANNOTATED_INLINE)
		str_printf(scratch, "%s():", line->text);
	else if (!line->mnemonic)
		str_puts(scratch, "  (code is missing)");
	else
		str_printf(scratch, "  %-7s %s", line->mnemonic, line->operands);
	const char *name = line->kind != ANNOTATED_CODE ? NULL : line->direct ? line->target_name : line->reference_name;
	if (name && !line->inside)
		str_printf(scratch, "  # %s", name);
	return cell_text(str_text(scratch));
}

static struct cell place_cell(const struct annotated_line *line, bool whole, struct str *scratch)
{
	const char *slash = line->file ? strrchr(line->file, '/') : NULL;
	if (!line->file || !line->line_number)
		return cell_absent();
	str_printf(scratch, "%s:%u", slash && !whole ? slash + 1 : line->file, line->line_number);
	return cell_text(str_text(scratch));
}

static struct cell share_cell(uint64_t part, uint64_t whole)
{
	return part ? (struct cell){ .kind = CELL_SHARE, .share = { part, whole } } : cell_absent();
}

static struct cell flow_cell(const struct annotated_flow *flow, enum code_column column, struct str *scratch)
{
	if (column == CODE_IPC)
		return flow->ipc > 0 ? (struct cell){ .kind = CELL_REAL, .real = flow->ipc } : cell_absent();
	if (!flow->cycles)
		return cell_absent();
	if (column == CODE_CYCLES)
		return cell_count(flow->cycles);
	str_printf(scratch, "%u/%u", flow->least, flow->most);
	return cell_text(str_text(scratch));
}

static struct cell callee_cell(const struct annotation *annotation, const struct annotated_line *line)
{
	bool branch = line->code == CODE_CALL || line->code == CODE_JUMP;
	if (!branch || !line->direct || line->inside || !line->target_name)
		return cell_absent();
	return (struct cell){ .kind = CELL_PLACE, .place = { .module = annotation->module->long_name, .symbol = line->target_name,
		.address = line->target, .level = '.' } };
}

static struct cell count_cell(const struct code_table *table, const struct annotated_line *line, enum code_column column)
{
	static const struct hit_count none;
	bool of_line = line->kind == ANNOTATED_SOURCE || column == CODE_OF_LINE;
	struct hit_count count = of_line ? line_sums_of(&table->lines, line).count : annotated_count(line, table->event);
	const struct hit_count *local = table->annotation->totals ? &table->annotation->totals[table->event] : &none;
	switch (column) {
	case CODE_SHARE:
	case CODE_OF_LINE:
		return share_cell(count.period, local->period);
	case CODE_HITS:
		return share_cell(count.samples, local->samples);
	case CODE_OF_ALL:
		return share_cell(count.period, table->whole.period);
	case CODE_HITS_OF_ALL:
		return share_cell(count.samples, table->whole.samples);
	default:
		return count.samples ? cell_count(column == CODE_SAMPLES ? count.samples : count.period) : cell_absent();
	}
}

static struct cell line_cell(void *context, uint64_t row, size_t index, struct str *scratch)
{
	const struct code_table *table = context;
	const struct annotated_line *line = &table->annotation->lines.items[row - 1];
	enum code_column column = table->shown[index];
	if (column == CODE_TEXT)
		return text_cell(line, scratch);
	if (column == CODE_ARROWS) {
		code_arrows_add(&table->arrows, row - 1, scratch);
		return cell_text(str_text(scratch));
	}
	if (line->kind == ANNOTATED_SOURCE && column < CODE_OF_LINE)
		return count_cell(table, line, column);
	if (line->kind != ANNOTATED_CODE)
		return cell_absent();
	switch (column) {
	case CODE_IPC:
	case CODE_CYCLES:
	case CODE_RANGE:
		return flow_cell(&line->flow, column, scratch);
	case CODE_ADDRESS:
		return cell_address(line->address);
	case CODE_OFFSET:
		return cell_address(line->offset);
	case CODE_PLACE:
	case CODE_PATH:
		return place_cell(line, column == CODE_PATH, scratch);
	case CODE_JUMPS:
		return line->jump_sources ? cell_count(line->jump_sources) : cell_absent();
	case CODE_TARGET:
		return line->inside ? cell_count(line->target_line) : cell_absent();
	case CODE_CALLEE:
		return callee_cell(table->annotation, line);
	default:
		return count_cell(table, line, column);
	}
}

static void choose_columns(struct code_table *table)
{
	for (int i = 0; i < CODE_COLUMNS; i++) {
		bool flow = i == CODE_IPC || i == CODE_CYCLES || i == CODE_RANGE;
		if ((flow && !table->annotation->flow.known) || (i == CODE_ARROWS && !table->arrows.lanes))
			continue;
		table->shown[table->column_count] = (enum code_column)i;
		table->columns[table->column_count++] = code_columns[i];
	}
}

static void open_table(struct code_table *code, const struct annotation *annotation, const struct hits *hits, uint32_t event)
{
	*code = (struct code_table){ .annotation = annotation, .event = event,
		.whole = event < hits->event_count ? hits->events[event] : (struct hit_count){ 0 } };
	line_sums_make(&code->lines, annotation, event);
	code_arrows_init(&code->arrows, annotation);
	choose_columns(code);
}

static void close_table(struct code_table *code)
{
	code_arrows_fini(&code->arrows);
	line_sums_fini(&code->lines);
}

static struct snapshot *make_snapshot(const struct annotation *annotation, const struct hits *hits, uint32_t event, const char *event_name)
{
	struct code_table code;
	open_table(&code, annotation, hits, event);
	const struct table_fact facts[] = { { "event", cell_text(event_name) }, { "symbol", cell_text(annotation->name) },
		{ "module", cell_text(annotation->module->long_name) } };
	const struct table table = { .name = "code", .facts = facts, .fact_count = sizeof facts / sizeof *facts, .columns = code.columns,
		.column_count = code.column_count, .context = &code, .row_count = line_count, .row = table_row_in_order, .cell = line_cell };
	struct snapshot *snapshot = snapshot_new(&table, 0);
	close_table(&code);
	return snapshot;
}

/* Column `column` of the table of a side. */
struct joined_column {
	size_t side, column;
};

struct joined_table {
	struct code_table sides[CODE_SIDES_MAX];
	struct code_rows rows;
	VEC(struct joined_column) shown;
	VEC(struct table_column) columns;
	VEC(uint32_t) row_of_line; /* of the first side with lines */
	size_t first;              /* that side */
	struct arena texts;
};

static size_t joined_count(void *context, uint64_t parent)
{
	const struct joined_table *table = context;
	return parent == TABLE_TOP ? table->rows.count : 0;
}

static struct cell joined_cell(void *context, uint64_t row, size_t index, struct str *scratch)
{
	struct joined_table *table = context;
	const struct joined_column *at = &table->shown.items[index];
	enum code_column column = table->sides[at->side].shown[at->column];
	size_t side = at->side;
	uint32_t line = code_rows_line(&table->rows, row - 1, side);
	/* the text is that of a build which has the line */
	for (size_t i = 0; column == CODE_TEXT && line == CODE_NO_LINE && i < table->rows.sides; i++)
		line = code_rows_line(&table->rows, row - 1, side = i);
	if (line == CODE_NO_LINE)
		return cell_absent();
	if (side != at->side)
		return text_cell(&table->sides[side].annotation->lines.items[line], scratch);
	struct cell cell = line_cell(&table->sides[side], (uint64_t)line + 1, at->column, scratch);
	if (column == CODE_TARGET && cell.kind == CELL_COUNT)
		cell = cell_count(table->row_of_line.items[cell.count]);
	return cell;
}

static void join_column(struct joined_table *table, size_t side, enum code_column column, const char *name)
{
	CLEANUP_STR struct str text = { 0 };
	const struct code_table *of = &table->sides[side];
	const char *slash = strrchr(name, '/');
	size_t at = 0;
	while (at < of->column_count && of->shown[at] != column)
		at++;
	if (at == of->column_count || table->columns.count == VIEW_COLUMNS_MAX)
		return;
	struct table_column joined = of->columns[at];
	if (column <= CODE_PERIOD || (column == CODE_ADDRESS && !table->rows.same)) {
		str_printf(&text, "%s, %s", joined.title, slash ? slash + 1 : name);
		joined.title = arena_string(&table->texts, str_text(&text), text.len);
		str_clear(&text);
	}
	if (side != table->first) {
		str_printf(&text, "%s_%zu", joined.name, side + 1);
		joined.name = arena_string(&table->texts, str_text(&text), text.len);
	}
	vec_push(&table->shown, ((struct joined_column){ side, at }));
	vec_push(&table->columns, joined);
}

static void join_columns(struct joined_table *table, const struct code_side *sides, size_t count)
{
	for (int column = 0; column < CODE_COLUMNS; column++) {
		if (column == CODE_ARROWS && !table->rows.same)
			continue; /* lines between them would cut them */
		bool each = column <= CODE_PERIOD || (column == CODE_ADDRESS && !table->rows.same);
		for (size_t side = 0; side < count; side++)
			if (each || side == table->first)
				join_column(table, side, (enum code_column)column, sides[side].name);
	}
}

static void open_sides(struct joined_table *table, const struct code_side *sides, size_t count)
{
	const struct annotation *annotations[CODE_SIDES_MAX];
	while (table->first + 1 < count && !sides[table->first].annotation->lines.count)
		table->first++;
	for (size_t i = 0; i < count; i++) {
		annotations[i] = sides[i].annotation;
		open_table(&table->sides[i], sides[i].annotation, sides[i].hits, sides[i].event);
	}
	code_align(&table->rows, annotations, count);
	vec_reserve(&table->row_of_line, annotations[table->first]->lines.count);
	table->row_of_line.count = annotations[table->first]->lines.count;
	for (size_t row = 0; row < table->rows.count; row++) {
		uint32_t line = code_rows_line(&table->rows, row, table->first);
		if (line != CODE_NO_LINE)
			table->row_of_line.items[line] = (uint32_t)row;
	}
}

struct snapshot *code_page_join(const struct code_side *sides, size_t count, const char *event)
{
	struct joined_table *joined = memory_zero(1, sizeof *joined);
	open_sides(joined, sides, count);
	join_columns(joined, sides, count);
	const struct annotation *first = sides[joined->first].annotation;
	const struct table_fact facts[] = { { "event", cell_text(event) }, { "symbol", cell_text(first->name) },
		{ "module", cell_text(first->module->long_name) } };
	const struct table table = { .name = "code", .facts = facts, .fact_count = sizeof facts / sizeof *facts,
		.columns = joined->columns.items, .column_count = joined->columns.count, .context = joined, .row_count = joined_count,
		.row = table_row_in_order, .cell = joined_cell };
	struct snapshot *snapshot = snapshot_new(&table, 0);
	for (size_t i = 0; i < count; i++)
		close_table(&joined->sides[i]);
	code_rows_fini(&joined->rows);
	vec_fini(&joined->shown);
	vec_fini(&joined->columns);
	vec_fini(&joined->row_of_line);
	arena_fini(&joined->texts);
	free(joined);
	return snapshot;
}

uint32_t code_page_event(const struct evlist *evlist, const char *name)
{
	char buffer[EVSEL_NAME_MAX];
	for (uint32_t i = 0; i < evlist->events.count; i++)
		if (strcmp(evsel_name(&evlist->events.items[i], buffer, sizeof buffer), name) == 0)
			return i;
	return 0;
}

struct snapshot *code_page_make(struct annotator *annotator, const struct hits *hits, uint32_t module, uint32_t symbol,
	const struct evlist *evlist, const char *event, struct error *err)
{
	struct annotation annotation;
	struct snapshot *lines = NULL;
	annotation_make(&annotation, annotator, hits, module, symbol);
	if (annotation.missing.kind != ERROR_NONE)
		*err = annotation.missing;
	if (annotation.lines.count)
		lines = make_snapshot(&annotation, hits, code_page_event(evlist, event), event);
	annotation_fini(&annotation);
	return lines;
}

static bool is_module(const struct module *module, const char *name)
{
	return module && (!name || strcmp(module->short_name, name) == 0 || strcmp(module->long_name, name) == 0);
}

static bool find_place(const struct profile *profile, const struct hits *hits, const struct cell_place *wanted, uint32_t *module,
	uint32_t *symbol)
{
	const struct stacks *stacks = profile->collected.stacks;
	bool found = false;
	for (uint32_t i = 0; i < stacks->places.count; i++) {
		const struct place *place = stacks_place_at(stacks, i);
		if (!place->symbol || strcmp(profile_symbol_name(profile, place->module, place->symbol), wanted->symbol) != 0 ||
		    !is_module(profile_module(profile, place->module), wanted->module))
			continue;
		*module = place->module;
		*symbol = place->symbol;
		found = true;
		if (hits_find(hits, place->module, place->symbol))
			return true;
	}
	return found;
}

bool code_page_find(struct annotator *annotator, const struct modules *modules, struct symbols *symbols, const struct profile *profile,
	const struct hits *hits, const struct cell_place *wanted, uint32_t *module, uint32_t *symbol)
{
	for (size_t i = 0; i < hits->symbols.count; i++) {
		const struct hit_symbol *at = &hits->symbols.items[i];
		const struct module *known = modules_get(modules, at->module);
		if (!is_module(known, wanted->module) || strcmp(symbols_name(symbols, known, at->symbol), wanted->symbol) != 0)
			continue;
		*module = at->module;
		*symbol = at->symbol;
		return true;
	}
	if (profile && find_place(profile, hits, wanted, module, symbol))
		return true;
	for (size_t i = 0; wanted->address && i < modules->list.count; i++)
		if (is_module(modules->list.items[i], wanted->module) && (*symbol = annotator_symbol_at(annotator, (uint32_t)i, wanted->address))) {
			*module = (uint32_t)i;
			return true;
		}
	return false;
}

const struct cell_place *code_page_place(const struct snapshot *shot, uint32_t row, struct error *err)
{
	size_t column = snapshot_column_of_kind(snapshot_columns_of(shot, row), CELL_PLACE);
	const struct cell *cell = column == SIZE_MAX ? NULL : snapshot_cell(shot, row, column);
	if (cell && cell->kind == CELL_PLACE && cell->place.inlined) {
		error_set(err, ERROR_USAGE, "the code of an inlined function is part of its callers: annotate one of them");
		return NULL;
	}
	if (cell && cell->kind == CELL_PLACE && cell->place.symbol)
		return &cell->place;
	if (cell && cell->kind == CELL_PLACE && cell->place.module)
		error_set(err, ERROR_USAGE, "no symbol is known for this address: the program's file or its debug file is missing");
	else if (cell && cell->kind == CELL_PLACE)
		error_set(err, ERROR_USAGE, "this address is in no file: a wrong caller, or code made at run time; ^ moves to the hottest row");
	else
		error_set(err, ERROR_USAGE, "this row has no function: sort by symbol (-s sym)");
	return NULL;
}
