#include "cmd/report/branch_cycles.h"

#include <stdlib.h>

#include "analysis/annotate/flow.h"
#include "analysis/annotate/hot_blocks.h"
#include "cmd/report/read.h"
#include "data/evsel_name.h"
#include "render/annotate/block_text.h"

enum { RESULTS_VERSION = 1, TARGET = 1 };

struct branch_cycles *branch_cycles_new(const struct report *report)
{
	const struct evlist *evlist = session_evlist(&report->input.session);
	if (report->mode != SORT_BRANCH || !(report->options->total_cycles || (report->sort && strstr(report->sort, ",ipc_lbr"))))
		return NULL;
	struct branch_cycles *cycles = memory_zero(1, sizeof *cycles);
	cycles->workers = session_workers(&report->input.session);
	cycles->blocks = memory_zero(cycles->workers, sizeof *cycles->blocks);
	cycles->cycles = memory_zero(cycles->workers, sizeof *cycles->cycles);
	for (size_t i = 0; i < evlist->events.count; i++)
		cycles->joined |= (evlist->events.items[i].attr.branch_sample_type & BRANCH_ANY) != 0;
	return cycles;
}

void branch_cycles_free(struct branch_cycles *cycles)
{
	if (!cycles)
		return;
	for (unsigned i = 0; i < cycles->workers; i++)
		blocks_fini(&cycles->blocks[i]);
	annotator_free(cycles->annotator);
	idmap_fini(&cycles->ipc_of);
	vec_fini(&cycles->ipc);
	free(cycles->blocks);
	free(cycles->cycles);
	free(cycles);
}

void branch_cycles_add(struct branch_cycles *cycles, const struct report *report, const struct resolved *r)
{
	unsigned worker = worker_index(r->worker);
	const struct sample *sample = r->sample;
	bool dropped = sample->time != UINT64_MAX && time_filter_drops(&report->filter.time, sample->time);
	if (r->record->type == RECORD_SAMPLE && !dropped && cpu_filter_has(&report->filter.cpus, sample->cpu))
		cycles->cycles[worker] += blocks_add_cycles(&cycles->blocks[worker], r, cycles->joined);
}

static void sort_blocks(struct branch_cycles *cycles)
{
	if (cycles->workers == 1 && !cycles->blocks[0].by_range.count)
		return;
	for (unsigned i = 1; i < cycles->workers; i++) {
		blocks_merge(&cycles->blocks[0], &cycles->blocks[i]);
		cycles->cycles[0] += cycles->cycles[i];
	}
	cycles->workers = 1;
	blocks_sort(&cycles->blocks[0]);
}

/* The functions to which the branches of an event's entries lead, in order of the entries. */
static void make(struct branch_cycles *cycles, const struct report *report, const struct hist *hist, struct hot_blocks *hot)
{
	VEC(struct block_function) functions = { 0 };
	struct idmap known = { 0 };
	sort_blocks(cycles);
	for (size_t i = 0; i < hist->count; i++) {
		const struct end_fact *to = &hist->entries[i]->facts->ends[TARGET];
		const struct module *module = profile_module(&report->profile, to->module);
		bool added;
		if (!module || !to->symbol)
			continue;
		uint32_t index = idmap_add(&known, (uint64_t)to->module << 32 | to->symbol, (uint32_t)functions.count, &added);
		if (added)
			vec_push(&functions, ((struct block_function){ .module = module, .symbol = to->symbol }));
		functions.items[index].rows++;
	}
	hot_blocks_make(hot, &cycles->blocks[0], report->input.symbols, functions.items, functions.count, cycles->cycles[0]);
	vec_fini(&functions);
	idmap_fini(&known);
}

static struct function_ipc compute_ipc(struct branch_cycles *cycles, uint32_t module, uint32_t symbol)
{
	struct annotation annotation;
	struct function_ipc ipc = { 0 };
	annotation_make(&annotation, cycles->annotator, NULL, module, symbol);
	if (annotation.path) {
		const struct symbol *extent = symbols_get(cycles->symbols, annotation.module, symbol);
		flow_make(&annotation, &cycles->blocks[0], extent->start);
		if (annotation.flow.cycles)
			ipc.ipc = (double)annotation.flow.instructions / (double)annotation.flow.cycles;
		if (annotation.code.count)
			ipc.coverage = 100.0 * (double)annotation.flow.covered / (double)annotation.code.count;
	}
	annotation_fini(&annotation);
	return ipc;
}

struct function_ipc branch_cycles_ipc(void *context, uint32_t module, uint32_t symbol)
{
	const struct branch_cycles_lines *lines = context;
	struct branch_cycles *cycles = lines->cycles;
	const struct input *input = &lines->report->input;
	bool added;
	uint32_t index = idmap_add(&cycles->ipc_of, (uint64_t)module << 32 | symbol, (uint32_t)cycles->ipc.count, &added);
	if (!added)
		return cycles->ipc.items[index];
	if (!cycles->annotator) {
		sort_blocks(cycles);
		cycles->symbols = input->symbols;
		cycles->annotator = annotator_new(&(struct annotator_options){ .symbols = input->symbols, .modules = &input->session.model.modules,
			.header = &input->session.source->header, .kcore = input->kernel_files.kcore });
	}
	vec_push(&cycles->ipc, compute_ipc(cycles, module, symbol));
	return cycles->ipc.items[index];
}

void branch_cycles_lines(void *context, const struct hist *hist, struct writer *out)
{
	const struct branch_cycles_lines *lines = context;
	const struct report *report = lines->report;
	struct hot_blocks hot;
	const struct header *header = &report->input.session.source->header;
	struct branch_counters counters;
	make(lines->cycles, report, hist, &hot);
	branch_counters_init(&counters, header);
	branch_counters_explain(&counters, header, out);
	writer_puts(out, counters.items.count ? "#\n" : "");
	block_text_print(&(struct block_text){ .hot = &hot, .symbols = report->input.symbols, .separator = report->options->separator,
		.counters = &counters, .blocks = &lines->cycles->blocks[0], .numbers = report->options->input.verbose > 0,
		.min_percent = report->profile_options.min_percent, .headers = true }, out);
	branch_counters_fini(&counters);
	hot_blocks_fini(&hot);
}

/* The names of the events that branches count. */
static struct cell *counted_events(const struct branch_counters *counters, const struct report *report, struct arena *arena)
{
	const struct evsel *events = session_evlist(&report->input.session)->events.items;
	struct cell *cells = arena_alloc(arena, (counters->items.count + 1) * sizeof *cells);
	for (size_t i = 0; i < counters->items.count; i++) {
		char buffer[EVSEL_NAME_MAX];
		const char *name = evsel_name(&events[counters->items.items[i].event], buffer, sizeof buffer);
		cells[i] = cell_text(arena_string(arena, name, strlen(name)));
	}
	return cells;
}

int branch_cycles_tables(struct branch_cycles *cycles, const struct report *report)
{
	const struct folded *folded = &report->profile.folded;
	struct table *tables = memory_zero(folded->hist_count + 1, sizeof *tables);
	struct hot_blocks *hots = memory_zero(folded->hist_count + 1, sizeof *hots);
	struct hot_blocks_table *contexts = memory_zero(folded->hist_count + 1, sizeof *contexts);
	struct table_fact (*facts)[2] = memory_zero(folded->hist_count + 1, sizeof *facts);
	struct branch_counters counters;
	branch_counters_init(&counters, &report->input.session.source->header);
	struct arena arena = { 0 };
	struct cell *counts = arena_alloc(&arena, (counters.items.count + 1) * sizeof *counts);
	struct cell *counted = counted_events(&counters, report, &arena);
	char (*names)[EVSEL_NAME_MAX] = memory_zero(folded->hist_count + 1, sizeof *names);
	size_t count = 0;
	for (size_t i = 0; i < folded->hist_count; i++) {
		const struct hist *hist = &folded->hists[i];
		if (!hist_is_reported(&report->profile, hist))
			continue;
		const struct evsel *evsel = &session_evlist(&report->input.session)->events.items[hist->event];
		make(cycles, report, hist, &hots[count]);
		contexts[count] = (struct hot_blocks_table){ &hots[count], report->input.symbols, &counters, &cycles->blocks[0], counts };
		facts[count][0] = (struct table_fact){ "event", cell_text(evsel_name(evsel, names[count], sizeof names[count])) };
		facts[count][1] = (struct table_fact){ "counters", cell_list(counted, counters.items.count) };
		tables[count] = hot_blocks_table(&contexts[count]);
		tables[count].facts = facts[count];
		tables[count].fact_count = counters.items.count ? 2 : 1;
		count++;
	}
	const struct results results = { .schema = "perfuse.blocks", .version = RESULTS_VERSION, .tables = tables, .table_count = count };
	int code = report_print_results(report, &results);
	for (size_t i = 0; i < count; i++)
		hot_blocks_fini(&hots[i]);
	branch_counters_fini(&counters);
	arena_fini(&arena);
	free(tables);
	free(hots);
	free(contexts);
	free(facts);
	free(names);
	return code;
}
