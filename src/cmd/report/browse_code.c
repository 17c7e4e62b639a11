#include "cmd/report/browse_code.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/annotate/annotation.h"
#include "base/memory.h"
#include "data/evsel_name.h"

struct code_view {
	struct report *report;
	struct hit_sink *sink;       /* NULL after code_view_finish */
	struct hits hits;
	struct annotator *annotator; /* NULL until the first function is shown */
};

struct code_view *code_view_new(struct report *report)
{
	struct code_view *view = memory_zero(1, sizeof *view);
	const struct hit_options options = { .filter = report->filter };
	view->report = report;
	view->sink = hit_sink_new(&options, session_workers(&report->input.session));
	return view;
}

void code_view_add(struct code_view *view, const struct resolved *r)
{
	hit_sink_add(view->sink, r);
}

void code_view_finish(struct code_view *view)
{
	hit_sink_finish(view->sink, &view->report->input.session, view->report->input.symbols, &view->hits);
	hit_sink_free(view->sink);
	view->sink = NULL;
}

void code_view_free(struct code_view *view)
{
	if (!view)
		return;
	annotator_free(view->annotator);
	hit_sink_free(view->sink);
	hits_fini(&view->hits);
	free(view);
}

enum { CODE_SHARE, CODE_SAMPLES, CODE_ADDRESS, CODE_PLACE, CODE_TEXT, CODE_TARGET };

static const struct table_column code_columns[] = {
	[CODE_SHARE] = { "overhead", "Percent", NULL, CELL_SHARE },
	[CODE_SAMPLES] = { "samples", "Samples", NULL, CELL_COUNT },
	[CODE_ADDRESS] = { "address", "Address", NULL, CELL_ADDRESS },
	[CODE_PLACE] = { "line", "Source:Line", NULL, CELL_TEXT },
	[CODE_TEXT] = { "code", "Code", NULL, CELL_TEXT },
	[CODE_TARGET] = { "target_line", "Target", NULL, CELL_COUNT },
};

struct code_table {
	const struct annotation *annotation;
	uint32_t event;
};

static size_t line_count(void *context, uint64_t parent)
{
	const struct code_table *table = context;
	return parent == TABLE_TOP ? table->annotation->lines.count : 0;
}

static uint64_t line_row(void *context, uint64_t parent, size_t index)
{
	return index + 1;
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* "   mov    %rax,(%rdi)"; source lines begin at the left. */
static struct cell text_cell(const struct annotated_line *line, struct str *scratch)
{
	if (line->kind == ANNOTATED_SOURCE)
		return cell_text(line->text);
	if (line->kind == ANNOTATED_INLINE)
		str_printf(scratch, "%s():", line->text);
	else if (!line->mnemonic)
		str_puts(scratch, "        (code is missing)");
	else
		str_printf(scratch, "        %-7s %s", line->mnemonic, line->operands);
	const char *name = line->kind != ANNOTATED_CODE ? NULL : line->direct ? line->target_name : line->reference_name;
	if (name && !line->inside)
		str_printf(scratch, "  # %s", name);
	return cell_text(str_text(scratch));
}

static struct cell line_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	const struct code_table *table = context;
	const struct annotated_line *line = &table->annotation->lines.items[row - 1];
	struct hit_count count = annotated_count(line, table->event);
	if (column == CODE_TEXT)
		return text_cell(line, scratch);
	if (line->kind != ANNOTATED_CODE)
		return cell_absent();
	switch (column) {
	case CODE_SHARE:
		if (!count.samples || !table->annotation->totals)
			return cell_absent();
		return (struct cell){ .kind = CELL_SHARE, .share = { count.period, table->annotation->totals[table->event].period } };
	case CODE_SAMPLES:
		return count.samples ? cell_count(count.samples) : cell_absent();
	case CODE_ADDRESS:
		return cell_address(line->address);
	case CODE_PLACE:
		if (!line->file || !line->line_number)
			return cell_absent();
		str_printf(scratch, "%s:%u", file_name(line->file), line->line_number);
		return cell_text(str_text(scratch));
	default:
		return line->inside ? cell_count(line->target_line) : cell_absent();
	}
}

/* The function that a row names; false: the profile has no such place. */
static bool find_function(const struct code_view *view, const struct cell_place *wanted, uint32_t *module, uint32_t *symbol)
{
	const struct profile *profile = &view->report->profile;
	const struct stacks *stacks = profile->collected.stacks;
	bool found = false;
	for (uint32_t i = 0; i < stacks->places.count; i++) {
		const struct place *place = stacks_place_at(stacks, i);
		if (!place->symbol || strcmp(profile_symbol_name(profile, place->module, place->symbol), wanted->symbol) != 0)
			continue;
		const struct module *known = profile_module(profile, place->module);
		if (wanted->module && strcmp(known->short_name, wanted->module) != 0 && strcmp(known->long_name, wanted->module) != 0)
			continue;
		*module = place->module;
		*symbol = place->symbol;
		found = true;
		if (hits_find(&view->hits, place->module, place->symbol))
			return true;
	}
	return found;
}

static uint32_t event_named(const struct report *report, const char *name)
{
	const struct evlist *evlist = session_evlist(&report->input.session);
	char buffer[EVSEL_NAME_MAX];
	for (uint32_t i = 0; i < evlist->events.count; i++)
		if (strcmp(evsel_name(&evlist->events.items[i], buffer, sizeof buffer), name) == 0)
			return i;
	return 0;
}

static struct snapshot *show_annotation(const struct code_view *view, const struct annotation *annotation, const char *event)
{
	struct code_table code = { annotation, event_named(view->report, event) };
	const struct table_fact fact = { "event", cell_text(event) };
	const struct table table = { .name = "code", .facts = &fact, .fact_count = 1, .columns = code_columns,
		.column_count = sizeof code_columns / sizeof *code_columns, .context = &code, .row_count = line_count, .row = line_row,
		.cell = line_cell };
	return snapshot_new(&table, 0);
}

struct snapshot *code_view_show(struct code_view *view, const struct snapshot *shot, uint32_t row, struct error *err)
{
	const struct report *report = view->report;
	size_t column = snapshot_column_of_kind(snapshot_columns_of(shot, row), CELL_PLACE);
	const struct cell *cell = column == SIZE_MAX ? NULL : snapshot_cell(shot, row, column);
	uint32_t module = MODULE_ID_NONE, symbol = 0;
	if (!cell || cell->kind != CELL_PLACE)
		error_set(err, ERROR_USAGE, "this row has no function: sort by symbol (-s sym)");
	else if (!cell->place.symbol)
		error_set(err, ERROR_USAGE, "no symbol is known for this address: the program's file or its debug file is missing");
	else if (!find_function(view, &cell->place, &module, &symbol))
		error_set(err, ERROR_USAGE, "the function %s is not known by its address", cell->place.symbol);
	else if (!view->annotator)
		view->annotator = annotator_new(&(struct annotator_options){ .symbols = report->input.symbols,
			.modules = &report->input.session.model.modules, .source = report->options->source, .places = true, .inlined = true });
	if (err->kind != ERROR_NONE)
		return NULL;
	struct annotation annotation;
	struct snapshot *lines = NULL;
	annotation_make(&annotation, view->annotator, &view->hits, module, symbol);
	if (annotation.missing.kind != ERROR_NONE)
		*err = annotation.missing;
	if (annotation.lines.count)
		lines = show_annotation(view, &annotation, shot->event);
	annotation_fini(&annotation);
	return lines;
}
