#include "cmd/code_page.h"

#include <string.h>

#include "analysis/annotate/line_sums.h"
#include "analysis/entry/names.h"
#include "cmd/code_arrows.h"
#include "data/evsel_name.h"

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

static struct snapshot *make_snapshot(const struct annotation *annotation, const struct hits *hits, uint32_t event, const char *event_name)
{
	struct code_table code = { .annotation = annotation, .event = event,
		.whole = event < hits->event_count ? hits->events[event] : (struct hit_count){ 0 } };
	line_sums_make(&code.lines, annotation, event);
	code_arrows_init(&code.arrows, annotation);
	choose_columns(&code);
	const struct table_fact facts[] = { { "event", cell_text(event_name) }, { "symbol", cell_text(annotation->name) },
		{ "module", cell_text(annotation->module->long_name) } };
	const struct table table = { .name = "code", .facts = facts, .fact_count = sizeof facts / sizeof *facts, .columns = code.columns,
		.column_count = code.column_count, .context = &code, .row_count = line_count, .row = table_row_in_order, .cell = line_cell };
	struct snapshot *snapshot = snapshot_new(&table, 0);
	code_arrows_fini(&code.arrows);
	line_sums_fini(&code.lines);
	return snapshot;
}

static uint32_t event_named(const struct evlist *evlist, const char *name)
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
		lines = make_snapshot(&annotation, hits, event_named(evlist, event), event);
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
