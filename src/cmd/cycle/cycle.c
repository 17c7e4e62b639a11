#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cycle/cycle_sink.h"
#include "analysis/cycle/cycle_tables.h"
#include "analysis/cycle/flow_text.h"
#include "cmd/cycle/cycle_dot.h"
#include "cmd/filter.h"
#include "cmd/format_option.h"
#include "cmd/input.h"
#include "cmd/result_file.h"
#include "render/format/aligned.h"
#include "render/svg/cycle_svg.h"

extern const struct command command_cycle;

enum { WINDOWS = 20, ENTRIES = 40, LEAST = 2, LINE_BYTES = 1 << 20 };
static const double LEAST_PERCENT = 0.02;

struct cycle_command {
	struct input_options input;
	struct filter_options filter;
	const char *brstack, *dot, *svg;
	bool edges, cycles, cover, all;
	unsigned windows, entries, number;
	uint64_t least;
	const struct format *format;
};

#define O struct cycle_command
static const struct option cycle_table[] = {
	OPT_BOOL(0, "edges", O, edges, "list the branches: counts, cycles and instructions"),
	OPT_BOOL(0, "cycles", O, cycles, "list the cycles that were found, the dominant one first"),
	OPT_BOOL(0, "cover", O, cover, "show how many cycles the branch stacks cover"),
	OPT_UINT(0, "windows", O, windows, "show IPC around the cycle in so many windows of equal cycles"),
	OPT_UINT('n', "number", O, number, "show this cycle of the list (1: the dominant one)"),
	OPT_BOOL('a', "all-branches", O, all, "show all branches of the cycle, not calls and system calls alone"),
	OPT_U64(0, "least", O, least, "leave branches with fewer counts out (0.02 % of all, at least 2)"),
	OPT_UINT('E', "entries", O, entries, "as text: print so many rows (40; 0: all)"),
	OPT_STRING(0, "brstack", O, brstack, "file", "read branch stacks as text: perf script -F brstack or brstacksym (- is stdin)"),
	OPT_STRING(0, "dot", O, dot, "file", "write the graph between functions for Graphviz (- is stdout)"),
	OPT_STRING(0, "svg", O, svg, "file", "draw the cycle into this file (- is stdout)"),
	FILTER_OPTIONS(O, filter),
	OPT_FORMAT(O, format),
	INPUT_OPTIONS(O, input, "read", "dir", ""),
	INPUT_NAME_OPTIONS(O, input),
	OPT_END(),
};
#undef O

static const char *const cycle_usage[] = { "perf cycle [<options>]", NULL };

static void cycle_defaults(void *target, __attribute__((unused)) const struct cli *cli)
{
	struct cycle_command *options = target;
	input_defaults(&options->input);
	options->entries = ENTRIES;
	options->number = 1;
}

static int read_text(struct cli *cli, const char *path, struct flow_graph *graph, struct error *err)
{
	FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	size_t stacks = 0;
	uint64_t bad = 0;
	bool is_text = true;
	if (!file)
		return error_system(err, "cannot open %s", path);
	char *line CLEANUP_FREE = memory_alloc(LINE_BYTES);
	while (is_text && fgets(line, LINE_BYTES, file)) {
		size_t len = strlen(line);
		is_text = (len && line[len - 1] == '\n') || (len + 1 < LINE_BYTES && feof(file));
		stacks += flow_text_line(graph, line, len, &bad) > 0;
	}
	bool failed = ferror(file);
	if (file != stdin)
		fclose(file);
	if (failed)
		return error_set(err, ERROR_SYSTEM, "cannot read %s", path);
	if (!is_text)
		return error_set(err, ERROR_FORMAT, "%s has a line with a NUL or of %d bytes or more: it is no text of branch stacks", path, LINE_BYTES);
	if (bad)
		cli_warn(cli, "%llu lines have words that are no branch: their stacks end there", (unsigned long long)bad);
	if (stacks)
		return 0;
	error_set(err, ERROR_USAGE, "%s has no branch stack", path);
	return error_hint(err, "'perf script -F brstacksym' writes them");
}

static int read_recording(struct cli *cli, const struct cycle_command *options, struct input *input, struct flow_graph *graph,
	struct error *err)
{
	struct itrace itrace;
	struct sample_filter filter = { 0 };
	if (itrace_parse(&itrace, "be", true, err) < 0)
		return -1;
	if (input_open(input, cli, &options->input, &(struct input_use){ .keep_exited = true, .threads = 1, .itrace = &itrace }, err) < 0
		|| filter_open(&filter, &options->filter, &input->session.source->header, err) < 0) {
		sample_filter_fini(&filter);
		return -1;
	}
	input_symbols(input);
	input_window(input, &filter.time);
	const char *arch = header_string(&input->session.source->header, FEATURE_ARCH);
	const struct cycle_options how = { .symbols = input->symbols, .filter = filter, .code_context = &input->code,
		.code = !arch || strcmp(arch, "x86_64") == 0 ? code_files_span : NULL };
	struct cycle_sink *cycle = cycle_sink_new(&how, graph);
	const struct sink sink = cycle_sink_of(cycle);
	input_run(input, &sink);
	const struct cycle_facts facts = cycle_sink_free(cycle);
	sample_filter_fini(&filter);
	if (facts.errors)
		cli_warn(cli, "trace was lost or could not be decoded at %llu places: cycles are interrupted there", (unsigned long long)facts.errors);
	if (graph->branches)
		return 0;
	error_set(err, ERROR_USAGE, "%s has no branches", input->path);
	return error_hint(err, "record them: perf record -j any,u -- COMMAND (LBR), or perf record -e intel_pt/cyc/u -- COMMAND");
}

static struct table choose_table(const struct cycle_command *options, const struct cycle_result *result)
{
	return options->edges ? cycle_edges_table(result) : options->cycles ? cycle_list_table(result) : options->cover ?
		cycle_cover_table(result) : options->windows ? cycle_windows_table(result) : cycle_steps_table(result);
}

static void print_text(struct cli *cli, const struct cycle_command *options, const struct cycle_result *result, const struct table *table)
{
	const struct flow_graph *graph = result->graph;
	const struct flow_cycle *cycle = cycle_result_cycle(result);
	struct writer *out = cli->out;
	writer_printf(out, "# %llu branches, %zu different ones", (unsigned long long)graph->branches, graph->edges.count);
	if (graph->stacks)
		writer_printf(out, ", in %llu branch stacks of %.1f branches and %.1f cycles", (unsigned long long)graph->stacks,
			(double)graph->stack_branches / (double)graph->stacks, (double)graph->stack_cycles / (double)graph->stacks);
	writer_putc(out, '\n');
	if (cycle && !options->edges && !options->cycles && !options->cover)
		writer_printf(out, "# cycle %u: %zu branches, %zu calls; its functions have %.1f%% of the %s; one pass: %.1f cycles\n",
			options->number, cycle->count, cycle->calls, 100.0 * (double)cycle->weight /
			(graph->cycles > 0 ? graph->cycles : (double)graph->branches), graph->cycles > 0 ? "cycles" : "branches", result->pass);
	struct table_first first;
	struct table shown = table_first(&first, table, options->entries ? options->entries : SIZE_MAX);
	aligned_print(&shown, out);
}

static void write_dot(const void *result, struct writer *out)
{
	cycle_dot_write(result, out);
}

static void write_svg(const void *result, struct writer *out)
{
	cycle_svg_write(result, out);
}

static bool knows_calls(const struct flow_graph *graph)
{
	for (size_t i = 0; i < graph->edges.count; i++)
		if (graph->edges.items[i].kind == FLOW_CALL || graph->edges.items[i].kind == FLOW_SYSCALL)
			return true;
	return false;
}

static int show(struct cli *cli, const struct cycle_command *options, const struct flow_graph *graph, struct error *err)
{
	struct cycle_result result;
	uint64_t rare = (uint64_t)((double)graph->branches * LEAST_PERCENT / 100), least = rare > LEAST ? rare : LEAST;
	int status = 0;
	cycle_result_make(&result, graph, options->least ? options->least : least, options->number - 1,
		options->windows ? options->windows : WINDOWS, options->all);
	struct table table = choose_table(options, &result);
	if (!cycle_result_cycle(&result) && !options->edges && !options->cover && !options->cycles && !options->dot) {
		error_set(err, ERROR_USAGE, result.cycles.list.count ? "there are only %zu cycles" : "no cycle of function calls was found",
			result.cycles.list.count);
		status = error_hint(err, knows_calls(graph) ? "--edges lists the branches, --cycles the cycles; --least takes rarer branches in" :
			options->brstack ? "no branch is known as a call: a text of addresses has no functions; script -F brstacksym prints them" :
			"no branch is known as a call: the programs are not available (--symfs); record -j any,save_type,u records types");
	} else if (options->dot || options->svg) {
		status = result_file_write(cli, options->dot ? options->dot : options->svg, options->dot ? write_dot : write_svg, &result, err);
	} else if (format_is_table(options->format)) {
		const struct results results = { .schema = "perfuse.cycle", .version = 1, .tables = &table, .table_count = 1 };
		options->format->print(&results, cli->out);
	} else {
		print_text(cli, options, &result, &table);
	}
	cycle_result_fini(&result);
	return status;
}

static int check(const struct cycle_command *options, struct error *err)
{
	if (options->edges + options->cycles + options->cover + (options->windows > 0) > 1)
		return error_set(err, ERROR_USAGE, "--edges, --cycles, --cover and --windows exclude each other");
	if (options->dot && options->svg)
		return error_set(err, ERROR_USAGE, "--dot and --svg exclude each other");
	if (!options->number || options->windows > FLOW_WINDOWS_MAX)
		return error_set(err, ERROR_USAGE, options->number ? "--windows takes at most %d" : "--number counts from 1", FLOW_WINDOWS_MAX);
	return 0;
}

static int cycle_run(struct cli *cli, void *filled, int argc, __attribute__((unused)) const char **argv)
{
	const struct cycle_command *options = filled;
	struct error err = { 0 };
	struct input input = { 0 };
	struct flow_graph graph;
	if (argc || check(options, &err) < 0)
		return cli_usage(cli, &command_cycle, argc ? NULL : &err);
	if (!options->brstack && input_check(&options->input, &err) < 0)
		return cli_complain(cli, &err);
	flow_graph_init(&graph);
	int status = options->brstack ? read_text(cli, options->brstack, &graph, &err) : read_recording(cli, options, &input, &graph, &err);
	int code = status < 0 || show(cli, options, &graph, &err) < 0 ? EXIT_FAILED : 0;
	if (code)
		cli_complain(cli, &err);
	if (input.session.source) {
		int end = input_end(&input, code != 0, false);
		code = code ? code : end;
	}
	if (!options->brstack)
		input_close(&input);
	flow_graph_fini(&graph);
	return code;
}

const struct command command_cycle = {
	.name = "cycle",
	.summary = "find the dominant cycle of function calls in branch stacks or a hardware trace",
	.usage = cycle_usage,
	.options = cycle_table,
	.options_size = sizeof(struct cycle_command),
	.defaults = cycle_defaults,
	.run = cycle_run,
	.pages = true,
};
