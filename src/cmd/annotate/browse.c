#include "cmd/annotate/browse.h"

#include <stdlib.h>

#include "analysis/annotate/order.h"
#include "base/memory.h"
#include "cmd/browse_screen.h"
#include "cmd/code_page.h"
#include "data/evsel_name.h"

int annotate_browses(const struct cli *cli, const struct annotate_options *options, struct error *err)
{
	bool text = options->stdio || options->stdio2 || options->format || options->hottest || options->dump || options->quiet ||
		options->print_lines || options->objdump || options->show_samples || options->show_period;
	enum browse_choice choice = options->tui ? BROWSE_YES : text ? BROWSE_NO : BROWSE_AUTO;
	bool wanted = browse_wanted(cli, "annotate", choice, options->input.path, err);
	return wanted ? 1 : choice == BROWSE_YES ? -1 : 0;
}

enum { FUNCTION_SHARE, FUNCTION_SAMPLES, FUNCTION_DSO, FUNCTION_SYMBOL, FUNCTION_COLUMNS };

static const struct table_column function_columns[FUNCTION_COLUMNS] = {
	[FUNCTION_SHARE] = { "overhead", "Overhead", NULL, CELL_SHARE },
	[FUNCTION_SAMPLES] = { "samples", "Samples", NULL, CELL_COUNT },
	[FUNCTION_DSO] = { "dso", "Shared Object", NULL, CELL_TEXT },
	[FUNCTION_SYMBOL] = { "symbol", "Symbol", NULL, CELL_PLACE },
};

/* The functions with samples of one event, by period. */
struct functions {
	const struct annotate_browse *browse;
	const struct hits *hits;
	uint32_t event, *order;
	size_t count;
};

static size_t function_count(void *context, uint64_t parent)
{
	const struct functions *functions = context;
	return parent == TABLE_TOP ? functions->count : 0;
}

static struct cell function_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	const struct functions *functions = context;
	const struct annotate_browse *browse = functions->browse;
	const struct hits *hits = functions->hits;
	const struct hit_symbol *symbol = &hits->symbols.items[functions->order[row - 1]];
	const struct module *module = modules_get(&browse->input->session.model.modules, symbol->module);
	const struct hit_count *total = &hits_totals(hits, symbol)[functions->event];
	switch (column) {
	case FUNCTION_SHARE:
		return (struct cell){ .kind = CELL_SHARE, .share = { total->period, hits->events[functions->event].period } };
	case FUNCTION_SAMPLES:
		return cell_count(total->samples);
	case FUNCTION_DSO:
		return cell_text(module->short_name);
	default:
		return (struct cell){ .kind = CELL_PLACE, .place = { .module = module->long_name,
			.symbol = symbols_name(browse->input->symbols, module, symbol->symbol),
			.level = module->kind == MODULE_KERNEL || module->kind == MODULE_KMODULE ? 'k' : '.' } };
	}
}

static struct snapshot *list_functions(const struct annotate_browse *browse, const struct hits *hits, uint32_t event)
{
	struct functions functions = { .browse = browse, .hits = hits, .event = event };
	struct hit_group group = { .leader = event };
	const struct evlist *evlist = session_evlist(&browse->input->session);
	char name[EVSEL_NAME_MAX];
	vec_push(&group.members, event);
	functions.count = hit_order_make(hits, &group, browse->options->percent_limit, browse->options->symbol != NULL,
		&browse->input->session.model.modules, browse->input->symbols, &functions.order);
	const struct table_fact facts[] = { { "event", cell_text(evsel_name(&evlist->events.items[event], name, sizeof name)) },
		{ "samples", cell_count(hits->events[event].samples) }, { "period", cell_count(hits->events[event].period) } };
	const struct table table = { .name = "functions", .facts = facts, .fact_count = sizeof facts / sizeof *facts,
		.columns = function_columns, .column_count = FUNCTION_COLUMNS, .context = &functions, .row_count = function_count,
		.row = table_row_in_order, .cell = function_cell };
	struct snapshot *snapshot = snapshot_new(&table, 0);
	free(functions.order);
	vec_fini(&group.members);
	return snapshot;
}

static struct snapshot *show_code(void *context, const struct snapshot *shot, uint32_t row, struct error *err)
{
	const struct annotate_browse *browse = context;
	const struct session *session = &browse->input->session;
	const struct hits *hits = browse_screen_shown(browse->cli->screen);
	const struct cell_place *place = code_page_place(shot, row, err);
	uint32_t module, symbol;
	if (!place)
		return NULL;
	if (!hits) {
		error_set(err, ERROR_USAGE, "code is shown when the recording is read to its end");
		return NULL;
	}
	if (!code_page_find(browse->annotator, &session->model.modules, browse->input->symbols, NULL, hits, place, &module, &symbol)) {
		error_set(err, ERROR_USAGE, "the function %s is not known by its address", place->symbol);
		return NULL;
	}
	return code_page_make(browse->annotator, hits, module, symbol, session_evlist(session), shot->event, err);
}

static void add_messages(void *context, struct str *out)
{
	const struct annotate_browse *browse = context;
	browse_messages_text(&browse->cli->screen->messages, out);
}

static void read_again(void *context, uint64_t request, uint64_t start_ns, uint64_t end_ns, const char *flame_event)
{
	const struct annotate_browse *browse = context;
	browse_screen_ask(browse->cli->screen, request, start_ns, end_ns, flame_event);
}

void annotate_browse_source(struct annotate_browse *browse)
{
	browse->cli->screen->source = (struct browse_source){ .context = browse, .annotate = show_code, .messages = add_messages,
		.read = browse->cli->screen->again ? read_again : NULL,
		.first_key = 'a' }; /* as perf: the hottest function first; ESC leads to the list */
}

void annotate_browse_publish(const struct annotate_browse *browse, const struct hits *hits)
{
	struct feed_shot *shot = memory_zero(1, sizeof *shot);
	shot->tables = memory_zero(hits->event_count + 1, sizeof *shot->tables);
	for (uint32_t event = 0; event < hits->event_count; event++)
		if (hits->events[event].samples)
			shot->tables[shot->table_count++] = list_functions(browse, hits, event);
	if (!shot->table_count)
		shot->failure = memory_string("no sample is in this range of time");
	browse_screen_publish(browse->cli->screen, shot);
}
