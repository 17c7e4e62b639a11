#include "cmd/input.h"

#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/filter/time_filter.h"
#include "analysis/place/kernel_extent.h"
#include "base/budget.h"
#include "cmd/browse_part.h"
#include "cmd/browse_screen.h"
#include "cmd/environment.h"
#include "cmd/loss_summary.h"
#include "cmd/missing_files.h"
#include "cmd/same_machine.h"
#include "cmd/sampling.h"
#include "cmd/servers.h"
#include "cmd/unwind_remarks.h"
#include "data/evsel_name.h"
#include "data/perf_maps.h"

void input_defaults(struct input_options *options)
{
	options->demangle = options->jit = options->guess = true;
}

int input_check(const struct input_options *options, struct error *err)
{
	if (memory_option_check(options->memory, err) < 0)
		return -1;
	return kernel_files_check(options->symbols.vmlinux, options->symbols.kallsyms, err);
}

static const char *path_of(const struct input_options *options)
{
	struct stat st;
	if (options->path)
		return options->path;
	return fstat(STDIN_FILENO, &st) == 0 && S_ISFIFO(st.st_mode) ? "-" : "perf.data";
}


/* Several recordings may be read at a time: the screen shows the sums. */
static void show_progress(void *context, uint64_t done, uint64_t total)
{
	struct input *input = context;
	if (input->screen->opened)
		feed_progress(&input->screen->feed, done - input->screen_done, total - input->screen_total);
	input->screen_done = done;
	input->screen_total = total;
}

static void pause_reading(void *context)
{
	struct input *input = context;
	if (input->pause)
		input->pause(input->pause_context);
	else
		browse_screen_pause(input->screen);
}

static void watch_screen(struct input *input, struct session_options *options)
{
	input->screen = input->cli->screen;
	browse_screen_prepare(input->screen);
	if (!input->screen->opened)
		input->screen->again = input->screen->parts = strcmp(input->path, "-") != 0; /* which can be read once */
	options->progress = show_progress;
	options->pause = pause_reading;
	options->progress_context = input;
}

int input_open(struct input *input, struct cli *cli, const struct input_options *options, const struct input_use *use,
	struct error *err)
{
	struct source *source;
	struct source_options source_options = { .force = options->force, .header_only = use->header_only, .series = true };
	*input = (struct input){ .cli = cli, .options = options, .path = path_of(options), .remarks = use->remarks };
	memory_option_use(cli, options->memory);
	source_options.event_memory = source_event_memory(cli->budget);
	if (source_open(&source, input->path, &source_options, err) < 0)
		return -1;
	if (cli->budget->measure)
		cli->budget->limit = 0; /* measured again: the recording takes address space now */
	if (source->traced && use->itrace && piped_trace_copy(&input->piped, &source, err) < 0) {
		source_close(source);
		return -1;
	}
	input->same_machine = recorded_here(&source->header);
	kernel_files_find(&input->kernel_files, source, input->path);
	struct image_options images = { .symfs = options->symbols.symfs, .buildid_dir = environment_cache(cli, false), .budget = cli->budget,
		.same_machine = input->same_machine, .processes_until = recorded_until(&source->header) };
	struct session_options session_options = {
		.budget = cli->budget, .images = &images,
		.join_stacks = options->join_stacks, .no_guess = !options->guess, .stitch_call_stacks = use->stitch,
		.keep_exited = use->keep_exited, .threads = use->threads, .guests = use->guests,
		.kernel_beyond = kernel_extent_beyond, .kernel_parts = kernel_extent_parts, .kernel_beyond_context = &input->symbols,
	};
	struct image_options code = images;
	code.vmlinux = options->symbols.vmlinux;
	code_files_init(&input->code, &code);
	input->code.kcore_path = input->kernel_files.kcore;
	input->code.guest_vmlinux_path = options->symbols.guests.vmlinux;
	struct trace_options trace = { .code = code_files_span, .context = &input->code, .symbol = kernel_extent_symbol,
		.symbol_context = &input->symbols };
	if (use->itrace) {
		trace.itrace = *use->itrace;
		input->trace_log.cli = cli;
		trace.log = trace.itrace.dump_log ? trace_log_piece : NULL;
		trace.log_context = &input->trace_log;
		session_options.trace = &trace;
	}
	if (cli->screen && !use->header_only)
		watch_screen(input, &session_options);
	else if (!use->no_progress)
		progress_watch(&input->progress, cli, input->path, &session_options);
	input->jit = (struct jit_names){ .cli = cli, .symfs = options->symbols.symfs, .force = options->force,
		.header = &source->header };
	if (options->jit && !use->no_jit)
		jit_names_watch(&input->jit, &session_options);
	return session_open(&input->session, source, &session_options, err);
}

static void read_perf_maps(struct input *input)
{
	const struct header *header = &input->session.source->header;
	struct stored_map map;
	vec_clear(&input->perf_maps);
	for (size_t at = 0; stored_map_next(header->feature_data[FEATURE_PERF_MAPS], header->swapped, &at, &map);)
		vec_push(&input->perf_maps, ((struct recorded_perf_map){ map.pid, map.text.data, map.text.len }));
}

void input_symbols(struct input *input)
{
	struct cli *cli = input->cli;
	struct symbols_options symbols = input->options->symbols;
	symbols.kallsyms = kernel_files_kallsyms(&input->kernel_files, symbols.kallsyms, symbols.no_vmlinux ? NULL : symbols.vmlinux);
	symbols.buildid_dir = environment_cache(cli, false);
	symbols.osrelease = header_string(&input->session.source->header, FEATURE_OSRELEASE);
	symbols.same_machine = input->same_machine;
	symbols.processes_until = recorded_until(&input->session.source->header);
	symbols.no_demangle = !input->options->demangle;
	symbols.verbose = input->options->verbose;
	symbols.debuginfod = servers_named(cli);
	symbols.kernel_cache_dir = cli->user_cache_dir;
	symbols.budget = cli->budget;
	symbols.force = input->options->force;
	read_perf_maps(input);
	symbols.perf_maps = input->perf_maps.items;
	symbols.perf_map_count = input->perf_maps.count;
	input->symbols = symbols_new(&input->session.model.modules, &symbols);
}

void input_window(struct input *input, const struct time_filter *filter)
{
	uint64_t from = UINT64_MAX, until = 0;
	for (size_t i = 0; i < filter->count; i++) {
		uint64_t stop = filter->ranges[i].stop ? filter->ranges[i].stop : UINT64_MAX;
		from = filter->ranges[i].start < from ? filter->ranges[i].start : from;
		until = stop > until ? stop : until;
	}
	if (filter->count)
		session_trace_window(&input->session, from, until == UINT64_MAX ? 0 : until);
}

void input_tracepoints(struct input *input)
{
	struct span formats = input->session.source->header.feature_data[FEATURE_TRACING_DATA];
	if (!input->tracepoints && formats.data && tracepoints_open(&input->tracepoints, formats, NULL) < 0)
		input->tracepoints = NULL;
}

static bool tracepoint_lookup(const void *context, uint64_t id, const char **system, const char **name)
{
	return tracepoints_name(context, id, system, name);
}

void input_name_events(struct input *input)
{
	struct evlist *evlist = &input->session.source->header.evlist;
	bool nameless = false;
	for (size_t i = 0; i < evlist->events.count; i++)
		nameless |= evlist->events.items[i].attr.type == ATTR_TRACEPOINT && !evlist->events.items[i].name;
	if (nameless)
		input_tracepoints(input);
	if (nameless && input->tracepoints)
		evlist_name_tracepoints(evlist, 0, tracepoint_lookup, input->tracepoints);
}

static int next_or_end(struct source *source, struct record *record, struct error *err)
{
	struct input *input = (struct input *)((char *)(uintptr_t)source->ops - offsetof(struct input, ending));
	bool ends = browse_screen_outdated(input->screen) || (input->stop && input->stop(input->stop_context));
	return ends ? 0 : input->whole->next(source, record, err);
}

void input_read(struct input *input, const struct sink *sink)
{
	struct source *source = input->session.source;
	input->whole = source->ops;
	if (input->screen || input->stop) {
		input->ending = *source->ops;
		input->ending.next = next_or_end;
		source->ops = &input->ending;
	}
	struct browse_part part;
	session_run(&input->session, browse_part_begin(&part, input->screen, sink, &input->session, input->symbols), NULL);
	browse_part_end(&part, &input->session);
	source->ops = input->whole;
}

void input_remark(struct input *input)
{
	losses_of_session(&input->losses, &input->session);
	jit_names_warn(&input->jit, &input->session);
	if (input->remarks == REMARKS_ALL)
		unwind_remarks(input->cli, &input->session);
	else if (input->remarks == REMARKS_GUESSED)
		guess_remark(input->cli, &input->session);
}

void input_run(struct input *input, const struct sink *sink)
{
	struct error err = { 0 };
	if (input->screen && !input->screen->opened)
		input->screen->flames = input->symbols && (!sink->plain || input->screen->flames) && !sink->checks_only && !sink->skip_samples;
	if (input->screen && !input->screen->opened && browse_screen_open(input->screen, &err) < 0)
		cli_complain(input->cli, &err);
	input_read(input, sink);
	input_remark(input);
}

int input_end(struct input *input, bool quiet, bool files)
{
	if (browse_screen_outdated(input->screen) && !input->screen->complete)
		return 0;
	losses_of_session(&input->losses, &input->session);
	if (input->losses.stop.kind == ERROR_NONE)
		input->losses.stop = input->piped.stop;
	int code = loss_summary_print(input->cli, input->path, &input->losses, quiet);
	if (files)
		missing_files_report(input->cli, input->symbols, &input->session, input->options->verbose);
	return code;
}

void input_close(struct input *input)
{
	symbols_free(input->symbols);
	vec_fini(&input->perf_maps);
	tracepoints_close(input->tracepoints);
	if (input->session.source) {
		session_close(&input->session);
		code_files_fini(&input->code);
	}
	piped_trace_close(&input->piped);
	trace_log_close(&input->trace_log);
}
