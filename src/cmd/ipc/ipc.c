#include <stdlib.h>
#include <string.h>

#include "analysis/ipc/ipc_sink.h"
#include "analysis/ipc/ipc_tables.h"
#include "base/whole.h"
#include "cmd/format_option.h"
#include "cmd/ipc/ipc_counts.h"
#include "cmd/ipc/ipc_options.h"
#include "cmd/ipc/ipc_text.h"
#include "cmd/result_file.h"
#include "render/format/aligned.h"
#include "render/svg/ipc_svg.h"

extern const struct command command_ipc;

enum { WINDOWS_SHOWN = 50, SPAN_WINDOWS = 20, MARKS_MAX = 64 };

/* One run. */
struct run {
	struct cli *cli;
	const struct ipc_command *options;
	struct input input;
	struct sample_filter filter;
	struct ipc_tracks tracks;
	struct ipc_result result;
	struct ipc_grid grid;
	struct str mark_text, counter_text;
	struct ipc_roles counters;
	const char *marks[MARKS_MAX];
	size_t mark_count;
};

static int split_marks(struct run *run, struct error *err)
{
	if (!run->options->marks)
		return 0;
	str_puts(&run->mark_text, run->options->marks);
	char *rest = NULL;
	for (char *word = strtok_r(run->mark_text.text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		if (run->mark_count == MARKS_MAX)
			return error_set(err, ERROR_USAGE, "--mark takes at most %d functions", MARKS_MAX);
		run->marks[run->mark_count++] = word;
	}
	return 0;
}

/* Why there is nothing to show, and what to record instead. */
static int refuse(const struct run *run, const struct ipc_facts *facts, struct error *err)
{
	if (run->tracks.counted && run->tracks.list.count)
		return 0;
	if (!facts->traced) {
		error_set(err, ERROR_USAGE, run->tracks.counted ? "%s has no intervals with counts of cycles and instructions" :
			"%s has no trace of Intel PT", run->input.path);
		return error_hint(err, "record one: perf record -e intel_pt/cyc,noretcomp/u -- COMMAND; without Intel PT, counters by interval: "
			"perf stat record -I 10 -e cycles,instructions -- COMMAND");
	}
	if (!facts->has_cycles) {
		error_set(err, ERROR_USAGE, "the trace has no cycle counts: it was recorded without 'cyc'");
		return error_hint(err, "record with them: perf record -e intel_pt/cyc,noretcomp/u -- COMMAND");
	}
	if (!run->tracks.list.count)
		return error_set(err, ERROR_USAGE, facts->branches ? "no timed range of the trace passes the filters" :
			"the trace has no branch that could be decoded");
	if (facts->timeless && (run->options->window.ns || run->options->span.ns || run->options->filter.time)) {
		error_set(err, ERROR_USAGE, "the trace has no clock that converts into ns");
		return error_hint(err, "give --window, --step and --span in cycles, and no --time");
	}
	return 0;
}

/* Intervals of counters are coarse: windows are as long as the mean one of the series with the longest, whatever the bounds. */
static uint64_t smallest_window(const struct run *run)
{
	uint64_t longest = 1;
	if (!run->tracks.counted)
		return ipc_smallest_window(&run->tracks, run->options->width);
	for (size_t i = 0; i < run->tracks.list.count; i++) {
		const struct ipc_track *track = &run->tracks.list.items[i];
		uint64_t mean = track->ranges.count ? (track->cycles + track->ranges.count - 1) / track->ranges.count : 1;
		longest = mean > longest ? mean : longest;
	}
	return longest;
}

/* The window that was requested, or one that makes sense. */
static void choose_grid(struct run *run)
{
	const struct ipc_command *options = run->options;
	uint64_t longest = 1, smallest = smallest_window(run);
	for (size_t i = 0; i < run->tracks.list.count; i++)
		longest = run->tracks.list.items[i].cycles > longest ? run->tracks.list.items[i].cycles : longest;
	uint64_t chosen = ipc_round_up((longest + WINDOWS_SHOWN - 1) / WINDOWS_SHOWN);
	if (options->around && options->span.count)
		chosen = ipc_round_up(options->span.count / SPAN_WINDOWS + !(options->span.count / SPAN_WINDOWS));
	else if (options->around || chosen < smallest)
		chosen = smallest;
	run->grid = (struct ipc_grid){ .window = { chosen, options->around && options->span.ns }, .width = options->width };
	if (options->window.count)
		run->grid.window = options->window;
	run->grid.step = options->step.count ? options->step : run->grid.window;
	run->result.limit = options->limit ? options->limit : run->grid.window.ns ? 0 : run->grid.window.count;
}

/* Windows that are smaller than what the packets can resolve. */
static void warn_of_window(const struct run *run)
{
	uint64_t smallest = ipc_smallest_window(&run->tracks, run->options->width), window = run->grid.window.count;
	if (run->grid.window.ns) {
		const struct ipc_track *track = &run->tracks.list.items[0];
		uint64_t ns = 0;
		for (size_t i = 0; i < track->ranges.count; i++)
			ns += track->ranges.items[i].to_ns - track->ranges.items[i].from_ns;
		window = ns ? whole_below((double)window * (double)track->cycles / (double)ns) : window;
	}
	if (run->options->window.count && window < smallest && !run->tracks.counted)
		cli_warn(run->cli, "windows of %llu cycles are smaller than the packets of this trace resolve: the bounds are wide; "
			"the smallest useful window is %llu cycles (--lengths)", (unsigned long long)window, (unsigned long long)smallest);
}

static void make_windows(struct run *run)
{
	for (size_t i = 0; i < run->tracks.list.count; i++) {
		struct ipc_windows *windows = vec_add(&run->result.windows);
		ipc_windows_make(windows, &run->tracks.list.items[i], &run->grid);
		if (windows->truncated)
			cli_warn(run->cli, "only the first %d windows of a series are shown", IPC_WINDOWS_MAX);
	}
}

static void find_steady(struct run *run)
{
	for (size_t i = 0; i < run->tracks.list.count; i++) {
		struct ipc_steady *steady = vec_add(&run->result.steady);
		ipc_steady_find(steady, &run->tracks, &run->tracks.list.items[i], run->options->anchored ? &run->options->anchor : NULL);
		if (steady->found && steady->losses)
			cli_warn(run->cli, "the range avoids %llu %s of trace: as trace is lost where branches are dense, a range without losses "
				"may be biased (IPC %.2f there, %.2f in all)", (unsigned long long)steady->losses, steady->losses == 1 ? "loss" : "losses",
				steady->rate, steady->whole_rate);
	}
}

/* The table of a view. */
static struct table make_view(struct run *run, enum ipc_view view)
{
	struct ipc_result *result = &run->result;
	switch (view) {
	case IPC_VIEW_TRACKS:
		return ipc_tracks_table(result);
	case IPC_VIEW_EVENTS:
		return ipc_events_table(result);
	case IPC_VIEW_RANGES:
		return ipc_ranges_table(result);
	case IPC_VIEW_LENGTHS:
		ipc_lengths_make(&result->lengths, &run->tracks, run->options->width);
		return ipc_lengths_table(result);
	case IPC_VIEW_AROUND:
		result->around_ns = run->grid.window.ns;
		ipc_around_make(&result->around, &run->tracks, &run->options->anchor,
			run->options->span.count ? run->options->span.count : SPAN_WINDOWS * run->grid.window.count, &run->grid);
		return ipc_around_table(result);
	case IPC_VIEW_STEADY:
		find_steady(run);
		return ipc_steady_table(result);
	default:
		make_windows(run);
		return ipc_windows_table(result);
	}
}

static void print_text(const struct run *run, enum ipc_view view, const struct table *table)
{
	struct writer *out = run->cli->out;
	struct ipc_grid none = { 0 };
	if (view == IPC_VIEW_SPARKLINE) {
		ipc_text_sparklines(&run->result, &run->grid, out);
		return;
	}
	ipc_text_head(&run->result, view == IPC_VIEW_WINDOWS || view == IPC_VIEW_AROUND ? &run->grid : &none, out);
	if (view == IPC_VIEW_AROUND)
		writer_printf(out, "# %llu occurrences\n", (unsigned long long)run->result.around.occurrences);
	aligned_print(table, out);
	if (view == IPC_VIEW_LENGTHS)
		writer_printf(out, "# the smallest window that makes sense: %llu cycles (in 9 of 10 windows, the bounds differ by at most 10%%)\n",
			(unsigned long long)run->result.lengths.smallest);
}

static void write_svg(const void *context, struct writer *out)
{
	const struct run *run = context;
	const struct ipc_command *options = run->options;
	const char *title = options->title ? options->title : "Instructions per cycle";
	if (options->around && !options->steady) {
		const struct ipc_around_svg around = { .title = title, .event = options->around, .ns = run->grid.window.ns };
		ipc_around_svg_write(out, &run->result.around, &around);
		return;
	}
	struct ipc_svg svg = { .title = title, .grid.width = options->width, .limit = options->limit, .tracks = &run->tracks };
	if (options->window.count)
		svg.grid = run->grid;
	ipc_svg_write(out, &svg);
}

static int show(struct run *run, struct error *err)
{
	enum ipc_view view = ipc_view_of(run->options);
	run->result.tracks = &run->tracks;
	run->result.data = format_is_table(run->options->format);
	run->result.first_ns = UINT64_MAX;
	for (size_t i = 0; i < run->tracks.list.count; i++)
		if (run->tracks.list.items[i].ranges.items[0].from_ns < run->result.first_ns)
			run->result.first_ns = run->tracks.list.items[i].ranges.items[0].from_ns;
	choose_grid(run);
	warn_of_window(run);
	if (run->options->svg && view != IPC_VIEW_AROUND)
		return result_file_write(run->cli, run->options->svg, write_svg, run, err);
	struct table table = make_view(run, view);
	if (view == IPC_VIEW_AROUND && !run->result.around.occurrences) {
		error_set(err, ERROR_USAGE, "no event is '%s'", run->options->around);
		return error_hint(err, "'perf ipc --events' lists them");
	}
	if (run->options->svg)
		return result_file_write(run->cli, run->options->svg, write_svg, run, err);
	const struct results results = { .schema = "perfuse.ipc", .version = 1, .tables = &table, .table_count = 1 };
	if (format_is_table(run->options->format))
		run->options->format->print(&results, run->cli->out);
	else
		print_text(run, view, &table);
	return 0;
}

static int read_trace(struct run *run, struct error *err)
{
	struct itrace itrace;
	if (itrace_parse(&itrace, "bpe", true, err) < 0)
		return -1;
	enum ipc_view view = ipc_view_of(run->options);
	itrace.paging = run->options->width && (view == IPC_VIEW_WINDOWS || view == IPC_VIEW_SPARKLINE || view == IPC_VIEW_AROUND);
	if (input_open(&run->input, run->cli, &run->options->input, &(struct input_use){ .keep_exited = true, .threads = 1, .itrace = &itrace },
			err) < 0 || filter_open(&run->filter, &run->options->filter, &run->input.session.source->header, err) < 0)
		return -1;
	input_symbols(&run->input);
	input_window(&run->input, &run->filter.time);
	input_tracepoints(&run->input);
	const struct header *header = &run->input.session.source->header;
	const struct ipc_options how = { .symbols = run->input.symbols, .tracepoints = &run->input.tracepoints, .filter = run->filter,
		.counters = run->counters, .by_thread = run->options->by_thread, .marks = run->marks, .mark_count = run->mark_count,
		.syscalls = syscalls_of_machine(header_string(header, FEATURE_ARCH)) };
	struct ipc_sink *ipc = ipc_sink_new(&how, &run->tracks);
	const struct sink sink = ipc_sink_of(ipc);
	input_run(&run->input, &sink);
	const struct ipc_facts facts = ipc_sink_finish(ipc);
	ipc_sink_free(ipc);
	if (!facts.traced && !run->tracks.list.count && !run->input.session.source->header.pipe) {
		bool found;
		if (ipc_counts_read(run->input.path, &run->counters, &run->tracks, run->cli->budget, &found, err) < 0)
			return -1;
		ipc_tracks_finish(&run->tracks);
	}
	return refuse(run, &facts, err);
}

static void run_close(struct run *run)
{
	sample_filter_fini(&run->filter);
	ipc_result_fini(&run->result);
	ipc_tracks_fini(&run->tracks);
	str_fini(&run->mark_text);
	str_fini(&run->counter_text);
	input_close(&run->input);
}

static int ipc_run(struct cli *cli, void *filled, int argc, __attribute__((unused)) const char **argv)
{
	struct ipc_command *options = filled;
	struct error err = { 0 };
	if (argc || ipc_check(options, &err) < 0)
		return cli_usage(cli, &command_ipc, argc ? NULL : &err);
	if (input_check(&options->input, &err) < 0)
		return cli_complain(cli, &err);
	struct run run = { .cli = cli, .options = options };
	int code = 0;
	if (split_marks(&run, &err) < 0 || ipc_roles_parse(&run.counters, options->counters, &run.counter_text, &err) < 0 ||
			read_trace(&run, &err) < 0 || show(&run, &err) < 0) {
		cli_complain(cli, &err);
		code = EXIT_FAILED;
	}
	if (run.input.session.source) {
		int end = input_end(&run.input, code != 0, false);
		code = code ? code : end;
	}
	run_close(&run);
	return code;
}

static const char *const ipc_usage[] = { "perf ipc [<options>]", NULL };

const struct command command_ipc = {
	.name = "ipc",
	.summary = "show instructions per cycle over time, with bounds, from a hardware trace",
	.usage = ipc_usage,
	.options = ipc_table,
	.options_size = sizeof(struct ipc_command),
	.defaults = ipc_defaults,
	.run = ipc_run,
	.pages = true,
};
