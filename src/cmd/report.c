#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/dump.h"
#include "analysis/kernel_extent.h"
#include "cmd/attr_names.h"
#include "cmd/files_told.h"
#include "cmd/kernel_files.h"
#include "cmd/report_raw.h"
#include "cmd/report_setup.h"
#include "cmd/report_tips.h"
#include "cmd/stack_hint.h"
#include "cmd/unwind_remarks.h"
#include "render/header.h"
#include "render/thread_values.h"
#include "render/report_text.h"

extern const struct command command_report;

enum { EXIT_OPEN = 255, EXIT_SWITCH = 254, EXIT_TIME = 234, EXIT_GROUP = 234, EXIT_KERNEL_FILE = 234 };

static void report_close(struct report *report)
{
	profile_close(&report->profile);
	if (!report->options->quiet)
		files_tell(report->cli, report->symbols, &report->session, report->options->verbose);
	columns_fini(&report->columns);
	symbols_free(report->symbols);
	tracepoints_close(report->tracepoints);
	name_list_close(report->comms);
	name_list_close(report->dsos);
	name_list_close(report->symbol_names);
	name_list_close(report->pids);
	name_list_close(report->tids);
	thread_values_fini(&report->values);
	free(report->sort);
	time_filter_fini(&report->time);
	if (report->parent_compiled)
		regfree(&report->parent);
	if (report->ignore_compiled)
		regfree(&report->ignore_callees);
	if (report->session.source)
		session_close(&report->session);
}

static const char *input_of(const struct report_options *options)
{
	struct stat st;
	if (options->input && *options->input)
		return options->input;
	return fstat(STDIN_FILENO, &st) == 0 && S_ISFIFO(st.st_mode) ? "-" : "perf.data";
}

static void open_tracepoints(struct report *report)
{
	const struct header *header = &report->session.source->header;
	struct span blob = header->feature_data[FEATURE_TRACING_DATA];
	if (!report->tracepoints && blob.data)
		tracepoints_open(&report->tracepoints, blob, NULL);
}

static int report_open(struct report *report, struct error *err)
{
	const struct report_options *options = report->options;
	struct source *source;
	struct source_options source_options = { .force = options->force };
	if (source_open(&source, input_of(options), &source_options, err) < 0)
		return -1;
	struct image_options images = { .symfs = options->symfs, .buildid_dir = report->cli->buildid_dir };
	struct session_options session_options = {
		.images = &images, .join_stacks = options->join_stacks, .keep_exited = true,
		.kernel_beyond = kernel_extent_beyond, .kernel_parts = kernel_extent_parts,
		.kernel_beyond_context = &report->symbols,
		.stitch_call_stacks = options->stitch_lbr,
	};
	if (options->stitch_lbr)
		stitching_warn(report->cli, &source->header);
	progress_watch(&report->progress, report->cli, input_of(options), &session_options);
	report->jit = (struct jit_names){ .cli = report->cli, .symfs = options->symfs, .force = options->force };
	if (options->jit && !options->stats && !options->tasks && !options->mmaps && !options->dump)
		jit_names_watch(&report->jit, &session_options);
	return session_open(&report->session, source, &session_options, err);
}

static void open_symbols(struct report *report)
{
	const struct report_options *options = report->options;
	struct kernel_files brought;
	kernel_files_find(&brought, report->session.source, input_of(options));
	struct symbols_options symbols = {
		.symfs = options->symfs, .vmlinux = options->vmlinux,
		.kallsyms = kernel_files_kallsyms(&brought, options->kallsyms, options->ignore_vmlinux ? NULL : options->vmlinux),
		.buildid_dir = report->cli->buildid_dir,
		.osrelease = header_string(&report->session.source->header, FEATURE_OSRELEASE), .no_demangle = !options->demangle,
		.short_names = options->short_names,
		.demangle_kernel = options->demangle_kernel, .no_vmlinux = options->ignore_vmlinux, .verbose = options->verbose,
		.debuginfod = report->cli->debuginfod, .kept_dir = report->cli->kept_dir,
	};
	report->symbols = symbols_new(&report->session.model.modules, &symbols);
}

static void print_intro(struct report *report)
{
	const struct report_options *options = report->options;
	struct writer *out = report->cli->out;
	struct report_raw raw = { .cli = report->cli, .options = options, .session = &report->session };
	if (options->dump)
		dump_warn(report->session.source, out);
	if (options->quiet)
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
static const char *memory_order(const struct report *report, struct str *buffer)
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
	struct report_text text = {
		.profile = &report->profile, .lost_samples = report->session.counters.lost_samples, .time_slices = options->time,
		.memory_order = memory_order(report, &order), .quiet = options->quiet, .colour = use_colour(report),
		.show_reference = options->show_reference, .tip = report_tip(),
	};
	struct writer *out = report->cli->out;
	report_text_print(&text, out);
	if (options->threads)
		thread_values_print(&report->values, session_evlist(&report->session), strcmp(options->pretty, "raw") == 0, out);
	if (report->mode == SORT_BRANCH)
		branch_text_print(&report->profile.branches, out);
}

static bool has_entries(const struct profile *profile)
{
	for (size_t i = 0; i < profile->hist_count; i++)
		if (profile->hists[i].count)
			return true;
	return false;
}

/* What passes by while the profile is made: a stream's features, its tracepoints' formats, counters' values (-T). */
struct watching {
	struct report *report;
	struct attr_names names;
	struct sink profile, all;
	bool features;
};

static void watch_raw(void *context, struct session *session, const struct record *record)
{
	struct watching *watching = context;
	struct report *report = watching->report;
	if (record->type == RECORD_HEADER_TRACING_DATA) {
		open_tracepoints(report);
		report->profile.tracepoints = report->tracepoints;
	}
	if (record->type == RECORD_HEADER_ATTR)
		watching->all.serial |= profile_needs_order(&report->profile);
	if (watching->features)
		header_print_feature(session->source, record, report->options->show_info, &watching->names, report->cli->out);
}

static void watch_record(void *context, const struct resolved *r, size_t slice)
{
	struct watching *watching = context;
	if (r->record->type == RECORD_READ && watching->report->options->threads)
		thread_values_add(&watching->report->values, r);
	watching->profile.record(watching->profile.context, r, slice);
}

static void watch_batch(void *context, struct session *session, size_t slices)
{
	struct watching *watching = context;
	watching->profile.batch_end(watching->profile.context, session, slices);
}

static int run_session(struct report *report, struct error *err)
{
	const struct report_options *options = report->options;
	struct watching watching = { .report = report, .profile = profile_sink(&report->profile) };
	watching.features = report->session.source->header.pipe && !options->quiet && (options->header || options->show_info);
	watching.all = (struct sink){
		.context = &watching, .record = watch_record, .batch_end = watch_batch, .raw = watch_raw, .want_records = options->threads,
		.serial = watching.profile.serial || options->threads,
	};
	attr_names_open(&watching.names);
	int result = session_run(&report->session, &watching.all, err);
	jit_names_warn(&report->jit, &report->session);
	if (!options->quiet)
		unwind_remarks(report->cli, &report->session);
	attr_names_close(&watching.names);
	return result;
}

static int read_and_print(struct report *report)
{
	struct cli *cli = report->cli;
	struct error err = { 0 };
	report->profile.tracepoints = report->tracepoints;
	if (run_session(report, &err) < 0 || profile_finish(&report->profile, &err) < 0) {
		cli_complain(cli, &err);
		return 0;
	}
	if (!has_entries(&report->profile)) {
		cli_warn(cli, "Error:\nThe %s data has no samples!", input_of(report->options));
		return 0;
	}
	print_report(report);
	struct profile_depths depths = profile_chain_depths(&report->profile);
	if (!report->options->quiet) {
		stack_hint(cli, depths.chains, depths.short_chains);
		joined_remark(cli, depths.chains, depths.joined);
	}
	return 0;
}

static int read_raw(struct report *report)
{
	struct report_raw raw = { .cli = report->cli, .options = report->options, .session = &report->session, .time = &report->time,
		.by_branch = report->mode == SORT_BRANCH };
	return report_raw_run(&raw);
}

static bool has_groups(const struct report *report)
{
	const struct evlist *evlist = session_evlist(&report->session);
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

static int open_time(struct report *report, struct error *err)
{
	uint64_t first, last;
	if (!report->options->time)
		return 0;
	time_filter_bounds(&report->session.source->header, &first, &last);
	report->profile_options.time = &report->time;
	return time_filter_parse(&report->time, report->options->time, first, last, false, err);
}

static int setup_and_run(struct report *report, struct error *err)
{
	const struct report_options *options = report->options;
	if (report_find_switches(report, err) < 0)
		return complain(report, err, EXIT_SWITCH);
	if (options->group_sort_index && !has_groups(report)) {
		error_set(err, ERROR_OPTION, "%s", "");
		error_hint(err, "group-sort-idx");
		return complain(report, err, EXIT_GROUP);
	}
	open_tracepoints(report);
	if (report_choose_mode(report, err) < 0 || report_setup_columns(report, err) < 0)
		return complain(report, err, 0);
	print_intro(report);
	if (options->header_only)
		return 0;
	open_symbols(report);
	if (report_open_filters(report, err) < 0)
		return complain(report, err, 0);
	if (open_time(report, err) < 0)
		return complain(report, err, EXIT_TIME);
	report_elide_columns(report);
	if (report_setup_samples(report, err) < 0)
		return complain(report, err, 0);
	if (report_raw_wanted(options))
		return read_raw(report);
	report_set_widths(report);
	report_fill_profile(report);
	if (profile_open(&report->profile, &report->profile_options, &report->session, report->symbols, err) < 0)
		return complain(report, err, 0);
	return read_and_print(report);
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
		options->verbose = 0; /* whichever comes first */
	struct report *report = memory_zero(1, sizeof *report);
	report->cli = cli;
	report->options = options;
	int code;
	if (kernel_files_check(options->vmlinux, options->kallsyms, &err) < 0)
		code = complain(report, &err, EXIT_KERNEL_FILE);
	else
		code = report_open(report, &err) < 0 ? complain(report, &err, EXIT_OPEN) : setup_and_run(report, &err);
	report_close(report);
	free(report);
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
	.pages = true,
};
