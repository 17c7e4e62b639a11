#include <stdio.h>
#include <stdlib.h>

#include "render/dump/dump.h"
#include "analysis/profile/results.h"
#include "cmd/attr_names.h"
#include "cmd/browse_screen.h"
#include "cmd/loss_summary.h"
#include "cmd/report/browse.h"
#include "cmd/report/raw.h"
#include "cmd/report/read.h"
#include "cmd/report/setup.h"
#include "cmd/report/tips.h"
#include "cmd/result_file.h"
#include "cmd/report/branch_cycles.h"
#include "cmd/stack_hint.h"
#include "render/text/header.h"
#include "render/text/thread_values.h"
#include "render/text/report_text.h"

extern const struct command command_report;

void report_close(struct report *report)
{
	profile_close(&report->profile);
	columns_fini(&report->columns);
	sample_filter_fini(&report->filter);
	thread_values_fini(&report->values);
	branch_cycles_free(report->cycles);
	free(report->sort);
	if (report->parent_compiled)
		regfree(&report->parent);
	if (report->ignore_compiled)
		regfree(&report->ignore_callees);
	input_close(&report->input);
}

int report_open(struct report *report, struct error *err)
{
	const struct report_options *options = report->options;
	struct itrace itrace = options->itrace;
	itrace.own_branch = itrace.last_branch && !options->branch_history && options->branch_mode;
	const struct input_use use = {
		.keep_exited = true, .stitch = options->stitch_lbr, .no_jit = report_raw_wanted(options),
		.remarks = options->quiet ? REMARKS_NONE : REMARKS_ALL,
		.itrace = report_raw_wanted(options) ? NULL : &itrace,
	};
	if (input_open(&report->input, report->cli, &options->input, &use, err) < 0)
		return -1;
	if (options->stitch_lbr)
		stitching_warn(report->cli, &report->input.session.source->header);
	return 0;
}

static void print_intro(struct report *report)
{
	const struct report_options *options = report->options;
	struct writer *out = report->cli->out;
	struct report_raw raw = { .cli = report->cli, .options = options, .session = &report->input.session };
	if (options->dump)
		dump_warn(report->input.session.source, out);
	if (options->quiet || format_is_table(options->format) || report->browses)
		return;
	if (options->header || options->header_only)
		report_raw_header(&raw);
	else if (!options->stats && !options->tasks && !options->mmaps)
		writer_puts(out, "# To display the perf.data header info, please use --header/--header-only options.\n#\n");
}

static bool use_colour(const struct report *report)
{
	if (report->options->colour == COLOUR_AUTO)
		return report->cli->tty_out;
	return report->options->colour == COLOUR_ALWAYS;
}

/* The sort order as the heading of memory accesses names it. */
static const char *order_of_memory(const struct report *report, struct str *buffer)
{
	static const char order[] = "local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked,local_ins_lat,local_p_stage_cyc";
	if (!report->options->memory)
		return NULL;
	if (!report->sort || *report->sort != '+')
		return report->sort ? report->sort : order;
	str_printf(buffer, "%s,%s", order, report->sort + 1);
	return str_text(buffer);
}

static void print_report(struct report *report)
{
	const struct report_options *options = report->options;
	CLEANUP_STR struct str order = { 0 };
	CLEANUP_STR struct str tip = { 0 };
	cli_named(report->cli, &tip, report_tip());
	struct report_text text = {
		.profile = &report->profile, .lost_samples = report->input.session.counters.lost_samples, .time_slices = options->filter.time,
		.memory_order = order_of_memory(report, &order), .quiet = options->quiet, .colour = use_colour(report),
		.show_reference = options->show_reference, .tip = str_text(&tip),
	};
	struct branch_cycles_lines lines = { report->cycles, report };
	if (report->cycles && options->total_cycles) {
		text.body = branch_cycles_lines;
		text.body_context = &lines;
	}
	struct writer *out = report->cli->out;
	report_text_print(&text, out);
	if (options->threads)
		thread_values_print(&report->values, session_evlist(&report->input.session), strcmp(options->pretty, "raw") == 0, out);
	if (report->mode == SORT_BRANCH)
		branch_text_print(&report->profile.collected.branches, out);
}

struct page {
	const struct format *format;
	const struct results *results;
};

static void write_page(const void *context, struct writer *out)
{
	const struct page *page = context;
	page->format->print(page->results, out);
}

int report_print_results(const struct report *report, const struct results *results)
{
	static const char path[] = "perf.html";
	const struct format *format = report->options->format;
	struct error err = { 0 };
	if (!report->options->gtk) {
		format->print(results, report->cli->out);
		return 0;
	}
	if (result_file_write(report->cli, path, write_page, &(struct page){ format, results }, &err) < 0)
		return cli_complain(report->cli, &err);
	if (report->cli->tty_out)
		writer_printf(report->cli->out, "%s: open it in a web browser\n", path);
	return 0;
}

static int print_tables(struct report *report)
{
	struct profile_results results;
	profile_results_init(&results, &report->profile, report->input.session.counters.lost_samples);
	int code = report_print_results(report, &results.results);
	profile_results_fini(&results);
	return code;
}

bool report_has_entries(const struct report *report)
{
	const struct folded *folded = &report->profile.folded;
	for (size_t i = 0; i < folded->hist_count; i++)
		if (folded->hists[i].count)
			return true;
	return false;
}

/* What else is read while the profile is made: a stream's features, its tracepoints' formats, counters' values (-T). */
struct watching {
	struct report *report;
	struct attr_names names;
	struct sink profile, all;
	bool features;
	size_t events;       /* that were judged */
};

static void watch_raw(void *context, struct session *session, const struct record *record)
{
	struct watching *watching = context;
	struct report *report = watching->report;
	if (record->type == RECORD_HEADER_TRACING_DATA) {
		input_tracepoints(&report->input);
		report->profile.tracepoints = report->input.tracepoints;
	}
	size_t events = session_evlist(session)->events.count;
	if (record->type != RECORD_HEADER_ATTR && events != watching->events) {
		watching->events = events;
		watching->all.serial |= profile_needs_order(&report->profile);
	}
	if (watching->features)
		header_print_feature(session->source, record, report->options->show_info, &watching->names, report->cli->out);
}

/* The header of a file is complete, except for formats of tracepoints. Records that are not watched are read while slices run. */
static bool needs_raw(const struct report *report)
{
	const struct evlist *evlist = session_evlist(&report->input.session);
	bool needed = report->input.session.source->header.pipe;
	for (size_t i = 0; i < evlist->events.count; i++)
		needed |= evlist->events.items[i].attr.type == ATTR_TRACEPOINT;
	return needed;
}

static void watch_record(void *context, const struct resolved *r, size_t slice)
{
	struct watching *watching = context;
	if (r->record->type == RECORD_READ && watching->report->options->threads)
		thread_values_add(&watching->report->values, r);
	watching->profile.record(watching->profile.context, r, slice);
	if (watching->report->cycles)
		branch_cycles_add(watching->report->cycles, watching->report, r);
	report_watch_sample(watching->report, r, slice);
}

static void watch_slice(void *context, const struct worker *worker, size_t slice)
{
	struct watching *watching = context;
	report_watch_slice(watching->report, worker, slice);
}

static void watch_begin(void *context, struct session *session, size_t slices)
{
	struct watching *watching = context;
	report_watch_begin(watching->report, session, slices);
}

static void watch_batch(void *context, struct session *session, size_t slices)
{
	struct watching *watching = context;
	watching->profile.batch_end(watching->profile.context, session, slices);
	report_watch_batch(watching->report, session, slices);
}

static size_t watch_ahead(void *context)
{
	struct watching *watching = context;
	const struct report_watch *watch = &watching->report->watch;
	return watching->profile.ahead(watching->profile.context) + (watch->flame ? watch->flame_sink.ahead(watch->flame_sink.context) : 0);
}

void report_run_session(struct report *report)
{
	const struct report_options *options = report->options;
	bool flame = report->watch.flame;
	report->profile.tracepoints = report->input.tracepoints;
	struct watching watching = { .report = report, .profile = profile_sink(&report->profile) };
	watching.features = report->input.session.source->header.pipe && !options->quiet && (options->header || options->show_info);
	watching.all = (struct sink){
		.context = &watching, .record = watch_record, .batch_end = watch_batch, .ahead = watch_ahead, .want_records = options->threads,
		.raw = needs_raw(report) ? watch_raw : NULL,
		.serial = watching.profile.serial || options->threads || (flame && report->watch.flame_sink.serial),
	};
	if (flame) {
		watching.all.batch_begin = watch_begin;
		watching.all.slice_end = watch_slice;
	}
	attr_names_open(&watching.names);
	input_run(&report->input, &watching.all);
	attr_names_close(&watching.names);
}

int report_end(struct report *report)
{
	bool quiet = report->options->quiet;
	return input_end(&report->input, quiet, !quiet && !report_raw_is_plain(report->options));
}

static int read_and_print(struct report *report)
{
	struct cli *cli = report->cli;
	report_run_session(report);
	profile_finish(&report->profile);
	int failed = 0;
	bool tables = format_is_table(report->options->format);
	if (!tables && !report_has_entries(report)) {
		cli_warn(cli, "Error:\nThe %s data has no samples!", report->input.path);
		return report_end(report);
	}
	struct branch_cycles_lines cycles = { report->cycles, report };
	if (report->cycles) {
		report->profile.options.ipc = branch_cycles_ipc;
		report->profile.options.ipc_context = &cycles;
	}
	if (tables && report->cycles && report->options->total_cycles)
		failed = branch_cycles_tables(report->cycles, report);
	else if (tables)
		failed = print_tables(report);
	else
		print_report(report);
	struct profile_depths depths = profile_chain_depths(&report->profile);
	if (!report->options->quiet) {
		stack_hint(cli, report->options->input.verbose > 0, depths.chains, depths.short_chains);
		joined_remark(cli, &report->profile, depths.chains);
	}
	int code = report_end(report);
	return failed ? failed : code;
}

static int read_raw(struct report *report)
{
	struct report_raw raw = { .cli = report->cli, .options = report->options, .session = &report->input.session, .time = &report->filter.time,
		.by_branch = report->mode == SORT_BRANCH };
	report_raw_run(&raw);
	return report_end(report);
}

static bool has_groups(const struct report *report)
{
	const struct evlist *evlist = session_evlist(&report->input.session);
	for (size_t i = 0; i < evlist->events.count; i++)
		if (evlist->events.items[i].group_members > 1)
			return true;
	return report->options->group_given && evlist->events.count > 1;
}

static int complain(const struct report *report, const struct error *err, int code)
{
	if (err->kind == ERROR_OPTION)
		cli_usage(report->cli, &command_report, err);
	else
		cli_complain(report->cli, err);
	return code;
}

/* perf's report answers 0 to some questions that the recording has no answer to; not where that is because the recording is damaged. */
static int give_up(struct report *report, const struct error *err)
{
	complain(report, err, 0);
	return report_end(report);
}

int report_prepare(struct report *report, struct error *err)
{
	const struct report_options *options = report->options;
	if (report_find_switches(report, err) < 0)
		return complain(report, err, EXIT_NO_EVENT);
	if (options->group_sort_index && !has_groups(report)) {
		error_set(err, ERROR_OPTION, "%s", "");
		error_hint(err, "group-sort-idx");
		return complain(report, err, EXIT_INVALID);
	}
	input_tracepoints(&report->input);
	if (report_choose_mode(report, err) < 0 || report_setup_columns(report, err) < 0)
		return give_up(report, err);
	print_intro(report);
	if (options->header_only)
		return report_end(report);
	if (options->separator && options->separator[0] == '.') { /* with exit code 0, as perf */
		cli_warn(report->cli, "'.' is the only non valid --field-separator argument");
		return 0;
	}
	input_symbols(&report->input);
	if (report_open_filters(report, err) < 0)
		return give_up(report, err);
	if (filter_open_time(&report->filter, &options->filter, &report->input.session.source->header, false, err) < 0)
		return complain(report, err, EXIT_INVALID);
	input_window(&report->input, &report->filter.time);
	if (!format_is_table(options->format))
		report_elide_columns(report);
	if (report_setup_samples(report, err) < 0)
		return give_up(report, err);
	if (report_raw_wanted(options))
		return REPORT_READY;
	report_set_widths(report);
	report_fill_profile(report);
	profile_open(&report->profile, &report->profile_options, &report->input.session, report->input.symbols);
	report->cycles = branch_cycles_new(report);
	return REPORT_READY;
}

/* *next: as report_browse. */
static int run_report(struct cli *cli, struct report_options *options, bool browses, char **next)
{
	struct error err = { 0 };
	struct browse_screen screen = { 0 };
	struct report *report = memory_zero(1, sizeof *report);
	report->cli = cli;
	report->options = options;
	report->browses = browses;
	cli->screen = browses ? &screen : NULL;
	int code = report_open(report, &err) < 0 ? complain(report, &err, EXIT_FAILED) : report_prepare(report, &err);
	if (code == REPORT_READY)
		code = browses ? report_browse(report, next) : report_raw_wanted(options) ? read_raw(report) : read_and_print(report);
	report_close(report);
	free(report);
	cli->screen = NULL;
	return browse_screen_close(&screen, code);
}

static int report_run(struct cli *cli, void *arg, int argc, const char **argv)
{
	struct report_options *options = arg;
	struct error err = { 0 };
	if (argc > 1)
		return cli_usage(cli, &command_report, NULL);
	if (argc == 1)
		options->symbol_filter = argv[0];
	if (options->quiet)
		options->input.verbose = 0; /* in any order of the two options */
	if (options->input.path && !*options->input.path)
		options->input.path = NULL;
	if (options->format == &format_tui) {
		options->format = NULL;
		options->tui = true;
	}
	if (options->gtk)
		options->format = format_find("html", &err);
	if (format_is_table(options->format) && (report_raw_wanted(options) || options->header_only)) {
		error_set(&err, ERROR_OPTION, "--format=%s is for the report itself: the header, --stats, --tasks, --mmaps and -D are text",
			options->format->name);
		error_hint(&err, "format");
		return cli_usage(cli, &command_report, &err);
	}
	if (options->prefix_strip && !options->prefix) {
		cli_warn(cli, "--prefix-strip requires --prefix");
		return EXIT_INVALID;
	}
	if (input_check(&options->input, &err) < 0) {
		cli_complain(cli, &err);
		return EXIT_INVALID;
	}
	int browses = report_browses(cli, options, &err);
	if (browses < 0)
		return cli_complain(cli, &err);
	if (!browses)
		cli_pager(cli, &command_report);
	char *path = NULL, *next = NULL;
	int code;
	do {
		code = run_report(cli, options, browses, &next);
		free(path);
		options->input.path = path = next;
		next = NULL;
	} while (path);
	return code;
}

const struct command command_report = {
	.name = "report",
	.summary = "show where a recording's samples lie",
	.usage = report_usage,
	.options = report_table,
	.options_size = sizeof(struct report_options),
	.defaults = report_defaults,
	.run = report_run,
};
