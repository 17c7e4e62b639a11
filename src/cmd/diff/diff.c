#include <stdlib.h>

#include "analysis/column/columns.h"
#include "analysis/compare/diff_results.h"
#include "analysis/profile/profile.h"
#include "cmd/diff/browse.h"
#include "cmd/diff/cycles.h"
#include "cmd/diff/dump.h"
#include "cmd/diff/gate.h"
#include "cmd/diff/options.h"
#include "cmd/loss_summary.h"
#include "data/evsel_name.h"
#include "data/feature.h"
#include "analysis/filter/time_filter.h"
#include "render/text/diff_text.h"
#include "render/text/stream_text.h"

extern const struct command command_diff;

/* One recording of the comparison. */
struct diff_file {
	struct input_options options;
	struct filter_options filter_options;
	struct input input;
	struct sample_filter filter;
	struct profile profile;
	struct sink profile_sink;
	struct blocks blocks;            /* with -c cycles */
	struct comparison *comparison;
	struct profile preview;          /* of what was read so far */
	bool finished;                   /* the profile is complete */
};

struct comparison {
	struct cli *cli;
	const struct diff_cli_options *options;
	struct columns columns;          /* of all files */
	struct diff_file *files;         /* inputs must not move */
	const char **paths;
	const struct profile **profiles;
	uint32_t file_count;
	struct diff diff;
	struct significance significance;
	struct arena texts;              /* of blocks */
	uint32_t slice_column;           /* with --stats: index in columns.all */
	struct diff_browse browse;
	struct diff_recording *recordings; /* with a browser */
	struct gate gate;                /* of the threads that read, for previews */
};

static void comparison_close(struct comparison *comparison)
{
	diff_code_free(comparison->browse.code);
	free(comparison->recordings);
	significance_fini(&comparison->significance);
	diff_fini(&comparison->diff);
	for (uint32_t i = 0; i < comparison->file_count; i++) {
		struct diff_file *file = &comparison->files[i];
		profile_close(&file->profile);
		blocks_fini(&file->blocks);
		sample_filter_fini(&file->filter);
		input_close(&file->input);
	}
	columns_fini(&comparison->columns);
	arena_fini(&comparison->texts);
	free(comparison->files);
	free(comparison->paths);
	free(comparison->profiles);
}

static void choose_files(struct comparison *comparison, int argc, const char **argv)
{
	uint32_t count = argc > 2 ? (uint32_t)argc : 2;
	comparison->file_count = count;
	comparison->files = memory_zero(count, sizeof *comparison->files);
	comparison->paths = memory_zero(count, sizeof *comparison->paths);
	comparison->profiles = memory_zero(count, sizeof *comparison->profiles);
	for (uint32_t i = 0; i < count; i++) {
		struct diff_file *file = &comparison->files[i];
		comparison->paths[i] = argc > 1 ? argv[i] : i == 0 ? "perf.data.old" : argc ? argv[0] : "perf.data";
		comparison->profiles[i] = &file->profile;
		file->options = comparison->options->input;
		file->options.path = comparison->paths[i];
		file->filter_options = comparison->options->filter;
	}
}

/* Rows are distinguished by time slices, too, which are added up for the table. */
static void add_slice_column(struct comparison *comparison)
{
	unsigned at = 0;
	while (column_types[at].class == COLUMN_MEASURE || column_types[at].id != ID_TIME)
		at++;
	comparison->slice_column = columns_add_sort(&comparison->columns, &column_types[at], 0);
}

static int setup_columns(struct comparison *comparison, struct error *err)
{
	const struct diff_cli_options *options = comparison->options;
	struct column_request request = { .sort = options->streams ? NULL : options->sort,
		.default_sort = options->streams ? "srcline,symbol,dso" : "dso,symbol", .mode = SORT_NORMAL };
	int result = columns_setup(&comparison->columns, &request, err);
	if (result < 0 && request.invalid) { /* its row of the usage lists the keys */
		struct error why = *err;
		error_set(err, ERROR_OPTION, "Error:\n%s", why.text);
		error_hint(err, "%s", request.invalid);
	}
	if (result >= 0 && comparison->options->stats)
		add_slice_column(comparison);
	return result;
}

/* A column that can hold only one value is not shown. */
static void elide(struct comparison *comparison, enum column_id id, const struct name_list *list)
{
	for (size_t i = 0; name_list_single(list) && i < comparison->columns.all.count; i++)
		if (comparison->columns.all.items[i].type->id == id)
			comparison->columns.all.items[i].elided = true;
}

static void elide_columns(struct comparison *comparison, const struct sample_filter *filter)
{
	bool shown = false;
	elide(comparison, ID_COMM, filter->comms);
	elide(comparison, ID_DSO, filter->dsos);
	elide(comparison, ID_SYMBOL, filter->symbols);
	for (size_t i = 0; i < comparison->columns.all.count; i++)
		shown |= comparison->columns.all.items[i].type->class != COLUMN_MEASURE && !comparison->columns.all.items[i].elided;
	for (size_t i = 0; !shown && i < comparison->columns.all.count; i++)
		comparison->columns.all.items[i].elided = false;
}

static int open_cpus(struct comparison *comparison, struct diff_file *file, struct error *err)
{
	const struct header *header = &file->input.session.source->header;
	struct feature_cpus machine = { 0 };
	int32_t refused;
	if (!file->filter_options.cpus)
		return 0;
	if (!filter_cpus_known(&header->evlist))
		return error_set(err, ERROR_USAGE, "File does not contain CPU events. Remove --cpu option to proceed.");
	feature_cpus(header, &machine);
	int result = filter_open_cpus(&file->filter, &file->filter_options, machine.available, &refused, err);
	return result <= 0 ? result : error_set(err, ERROR_USAGE, "Requested CPU %d too large. Consider raising MAX_NR_CPUS", refused);
}

/* "a,b:c,d" gives each file a separate time range. */
static int open_time(struct comparison *comparison, struct diff_file *file, struct error *err)
{
	CLEANUP_STR struct str part = { 0 };
	const char *time = comparison->options->filter.time;
	if (time && strchr(time, ':')) {
		size_t index = (size_t)(file - comparison->files);
		for (; index && time; index--)
			time = (time = strchr(time, ':')) ? time + 1 : NULL;
		str_add(&part, time ? time : "", time ? strcspn(time, ":") : 0);
		if (!part.len)
			return error_set(err, ERROR_USAGE, "Invalid time string");
		file->filter_options.time = str_text(&part);
	}
	int result = filter_open_time(&file->filter, &file->filter_options, &file->input.session.source->header, false, err);
	file->filter_options.time = NULL;
	return result;
}

/* Short enough that the slices of the test, which are longer, are of nearly equal length. */
static uint64_t slice_time(const struct comparison *comparison, const struct diff_file *file)
{
	enum { DEFAULT_NS = 100000000, UNKNOWN_NS = 10000000, PARTS = 8 * SIGNIFICANCE_SLICES };
	uint64_t first, last;
	if (!comparison->options->stats)
		return DEFAULT_NS;
	time_filter_bounds(&file->input.session.source->header, &first, &last);
	return last > first ? (last - first) / PARTS + 1 : UNKNOWN_NS;
}

static void open_profile(struct comparison *comparison, struct diff_file *file)
{
	enum { STREAM_STACK_MAX = 127 };
	const struct diff_cli_options *options = comparison->options;
	struct profile_options profile = {
		.columns = &comparison->columns, .iteration = ITERATE_SAMPLES, .filter = file->filter, .relative = options->relative,
		.verbose = options->input.verbose, .socket_filter = -1,
		.separator = options->separator, .at_end = options->method != METHOD_CYCLES, .time_quantum_ns = slice_time(comparison, file),
	};
	if (options->streams) {
		profile.branch_history = profile.branch_marks = profile.use_chains = true;
		profile.chain = (struct chain_options){ .mode = CHAIN_FLAT, .order = CHAIN_CALLEE, .key = CHAIN_SRCLINE, .min_percent = 0.5 };
		profile.max_stack = STREAM_STACK_MAX;
		profile.inlines = INLINE_UNWOUND;
	}
	profile_open(&file->profile, &profile, &file->input.session, file->input.symbols);
	file->profile.tracepoints = file->input.tracepoints;
}

static struct diff_options options_of(const struct comparison *comparison)
{
	const struct diff_cli_options *options = comparison->options;
	return (struct diff_options){
		.compute = options->compute, .order = options->method == METHOD_CYCLES ? 0 : options->order, .baseline_only = options->baseline_only,
		.old_weight = options->old_weight, .new_weight = options->new_weight,
		.blocks = options->stats ? &comparison->columns.all.items[comparison->slice_column] : NULL,
	};
}

/* Shows the comparison of what was read so far; no thread reads meanwhile. */
static void compare_so_far(void *context)
{
	struct comparison *comparison = context;
	const struct diff_options options = options_of(comparison);
	const struct profile **profiles = memory_zero(comparison->file_count, sizeof *profiles);
	struct diff diff;
	struct diff_results results;
	struct error err = { 0 };
	for (uint32_t i = 0; i < comparison->file_count; i++) {
		struct diff_file *file = &comparison->files[i];
		profiles[i] = file->finished ? &file->profile : &file->preview;
		if (!file->finished)
			profile_preview(&file->profile, &file->preview);
	}
	diff_init(&diff, profiles, comparison->file_count, &options);
	diff_results_init(&results, &diff, NULL, comparison->paths);
	diff_browse_show(&comparison->browse, &results.results, &err);
	diff_results_fini(&results);
	diff_fini(&diff);
	for (uint32_t i = 0; i < comparison->file_count; i++)
		if (!comparison->files[i].finished)
			profile_close(&comparison->files[i].preview);
	free(profiles);
}

static void meet(void *context)
{
	struct comparison *comparison = context;
	gate_meet(&comparison->gate, compare_so_far, comparison);
}

static void pause_reading(void *context)
{
	struct diff_file *file = context;
	struct comparison *comparison = file->comparison;
	gate_lock(&comparison->gate);
	browse_screen_pause(comparison->browse.screen);
	gate_unlock(&comparison->gate);
}

static int open_file(struct comparison *comparison, struct diff_file *file, struct error *err)
{
	const struct input_use use = { .remarks = REMARKS_NONE, .threads = 1, .no_progress = true };
	if (input_open(&file->input, comparison->cli, &file->options, &use, err) < 0)
		return EXIT_FAILED;
	input_tracepoints(&file->input);
	input_name_events(&file->input);
	if (open_time(comparison, file, err) < 0)
		return EXIT_INVALID;
	if (open_cpus(comparison, file, err) < 0 || filter_open_lists(&file->filter, &file->filter_options, err) < 0)
		return EXIT_FAILED;
	elide_columns(comparison, &file->filter);
	input_symbols(&file->input);
	open_profile(comparison, file);
	file->comparison = comparison;
	file->input.pause = pause_reading;
	file->input.pause_context = file;
	return 0;
}

static void add_record(void *context, const struct resolved *r, size_t slice)
{
	struct diff_file *file = context;
	file->profile_sink.record(file->profile_sink.context, r, slice);
	if (r->record->type == RECORD_SAMPLE)
		blocks_add_cycles(&file->blocks, r, true);
}

static void end_batch(void *context, struct session *session, size_t slices)
{
	const struct diff_file *file = context;
	file->profile_sink.batch_end(file->profile_sink.context, session, slices);
}

static size_t bytes_ahead(void *context)
{
	const struct diff_file *file = context;
	return file->profile_sink.ahead(file->profile_sink.context);
}

static void read_file(void *context, size_t job, unsigned worker)
{
	const struct comparison *comparison = context;
	struct diff_file *file = &comparison->files[job];
	struct sink sink = profile_sink(&file->profile);
	if (comparison->options->method == METHOD_CYCLES) { /* one thread reads the file: the blocks need no lock */
		file->profile_sink = sink;
		sink.context = file;
		sink.record = add_record;
		sink.batch_end = sink.batch_end ? end_batch : NULL;
		sink.ahead = bytes_ahead;
	}
	gate_enter(&file->comparison->gate);
	input_read(&file->input, &sink);
	blocks_sort(&file->blocks);
	profile_finish(&file->profile);
	file->finished = true;
	gate_leave(&file->comparison->gate);
}

/* Each recording is read by one thread: they share nothing but limits. */
static void read_files(struct comparison *comparison)
{
	struct pool *pool = pool_new(0);
	gate_init(&comparison->gate);
	pool_run(pool, comparison->file_count, read_file, comparison);
	pool_free(pool);
	for (uint32_t i = 0; i < comparison->file_count; i++)
		input_remark(&comparison->files[i].input);
}

static int complain(const struct comparison *comparison, const struct error *err, int code)
{
	if (err->kind == ERROR_OPTION)
		cli_usage(comparison->cli, &command_diff, err);
	else
		cli_complain(comparison->cli, err);
	return code;
}

static void print_streams(struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->diff.event_count; i++) {
		struct stream_side before, after;
		if (!comparison->diff.events[i].sides[1].hist)
			continue;
		streams_find(&comparison->diff.events[i], &before, &after);
		stream_text_print(&before, &after, comparison->cli->out);
	}
}

static void print_text(struct comparison *comparison)
{
	const struct diff_cli_options *options = comparison->options;
	struct diff_text text = {
		.diff = &comparison->diff, .paths = comparison->paths, .quiet = options->quiet, .colour = comparison->cli->tty_out,
		.list_files = options->input.verbose > 0, .show_formula = options->show_formula, .show_periods = options->show_period,
		.show_spread = options->cycles_hist, .significance = options->stats ? &comparison->significance : NULL,
	};
	diff_text_print(&text, comparison->cli->out);
}

static void print_tables(struct comparison *comparison)
{
	const struct diff_cli_options *options = comparison->options;
	struct diff_results results;
	diff_results_init(&results, &comparison->diff, options->stats ? &comparison->significance : NULL, comparison->paths);
	struct error err = { 0 };
	if (options->format != &format_tui || diff_browse_show(&comparison->browse, &results.results, &err) < 0)
		options->format->print(&results.results, comparison->cli->out);
	diff_results_fini(&results);
}

/* The reason why a column is empty. The output does not show it, as in perf. */
static void warn_of_gaps(const struct comparison *comparison)
{
	const struct diff *diff = &comparison->diff;
	char name[EVSEL_NAME_MAX];
	for (uint32_t file = 0; file < diff->file_count; file++) {
		const struct folded *folded = &comparison->profiles[file]->folded;
		uint64_t samples = 0;
		for (size_t i = 0; i < folded->hist_count; i++)
			samples += folded->hists[i].samples;
		if (!samples)
			cli_warn(comparison->cli, "%s has no samples%s", comparison->paths[file],
				comparison->options->filter.time || comparison->options->filter.cpus ? " that pass the filters" : "");
	}
	for (size_t i = 0; i < diff->event_count; i++)
		for (uint32_t file = 1; file < diff->file_count; file++) {
			const struct evlist *evlist = session_evlist(comparison->profiles[0]->session);
			if (!diff->events[i].sides[file].hist)
				cli_warn(comparison->cli, "%s has no event '%s', which the baseline has", comparison->paths[file],
					evsel_name(&evlist->events.items[diff->events[i].event], name, sizeof name));
		}
}

static void compare_cycles(struct comparison *comparison)
{
	const struct blocks **blocks = memory_zero(comparison->file_count, sizeof *blocks);
	for (uint32_t i = 0; i < comparison->file_count; i++)
		blocks[i] = &comparison->files[i].blocks;
	cycles_compare(&comparison->diff, blocks, &comparison->texts);
	free(blocks);
}

static void compare_and_print(struct comparison *comparison)
{
	enum { SLICES_MIN = 4 };
	const struct diff_cli_options *options = comparison->options;
	const struct diff_options diff = options_of(comparison);
	diff_init(&comparison->diff, comparison->profiles, comparison->file_count, &diff);
	if (!options->quiet)
		warn_of_gaps(comparison);
	if (options->method == METHOD_CYCLES)
		compare_cycles(comparison);
	if (options->stats)
		significance_init(&comparison->significance, &comparison->diff);
	if (options->stats && comparison->significance.least_slices < SLICES_MIN)
		cli_warn(comparison->cli, "an event has samples in fewer than %d time slices of a recording: its changes cannot be distinguished from "
			"noise; record longer, and with times", SLICES_MIN);
	if (options->streams)
		print_streams(comparison);
	else if (format_is_table(options->format))
		print_tables(comparison);
	else
		print_text(comparison);
}

static int exit_code_of(const struct comparison *comparison)
{
	const struct diff_cli_options *options = comparison->options;
	return options->fail_given && significance_largest(&comparison->significance) > options->fail_above ? EXIT_CHANGED : 0;
}

/* Cycles and streams are those of branch stacks. */
static int check_branches(const struct comparison *comparison, struct error *err)
{
	const struct diff_cli_options *options = comparison->options;
	for (uint32_t i = 0; i < comparison->file_count; i++)
		if (!header_has(&comparison->files[i].input.session.source->header, FEATURE_BRANCH_STACK))
			return error_set(err, ERROR_USAGE, "%s has no branch stacks, which -c cycles and --stream compare", comparison->paths[i]);
	if (options->stats || format_is_table(options->format))
		return error_set(err, ERROR_USAGE, "-c cycles and --stream are printed as text, without --stats");
	return 0;
}

static int open_screen(struct comparison *comparison, struct error *err)
{
	struct browse_screen *screen = comparison->cli->screen;
	comparison->recordings = memory_zero(comparison->file_count, sizeof *comparison->recordings);
	for (uint32_t i = 0; i < comparison->file_count; i++)
		comparison->recordings[i] = (struct diff_recording){ &comparison->files[i].options, &comparison->files[i].filter };
	comparison->browse = (struct diff_browse){ .screen = screen, .paths = comparison->paths, .count = comparison->file_count,
		.code = diff_code_new(comparison->cli, comparison->recordings, comparison->file_count) };
	browse_screen_previews(screen, meet, comparison);
	return diff_browse_open(&comparison->browse, err);
}

static int compare_files(struct comparison *comparison)
{
	struct error err = { 0 };
	if (setup_columns(comparison, &err) < 0)
		return complain(comparison, &err, EXIT_USAGE);
	for (uint32_t i = 0; comparison->options->dump && i < comparison->file_count; i++)
		if (diff_dump(comparison->cli, &comparison->files[i].options, &err) < 0)
			return complain(comparison, &err, EXIT_FAILED);
	for (uint32_t i = 0; i < comparison->file_count; i++) {
		int code = open_file(comparison, &comparison->files[i], &err);
		if (code)
			return complain(comparison, &err, code);
	}
	if ((comparison->options->method == METHOD_CYCLES || comparison->options->streams) && check_branches(comparison, &err) < 0)
		return complain(comparison, &err, EXIT_FAILED);
	if (comparison->cli->screen && open_screen(comparison, &err) < 0)
		return complain(comparison, &err, EXIT_FAILED);
	read_files(comparison);
	compare_and_print(comparison);
	int code = 0;
	for (uint32_t i = 0; i < comparison->file_count; i++) {
		int damaged = input_end(&comparison->files[i].input, comparison->options->quiet, !comparison->options->quiet);
		code = code ? code : damaged;
	}
	return code ? code : exit_code_of(comparison);
}

static int diff_run(struct cli *cli, void *arg, int argc, const char **argv)
{
	struct diff_cli_options *options = arg;
	struct comparison comparison = { .cli = cli, .options = options };
	struct error err = { 0 };
	if (options->quiet)
		options->input.verbose = 0;
	if (options->cycles_hist && options->method != METHOD_CYCLES)
		return cli_usage(cli, &command_diff, NULL);
	if (options->separator && options->separator[0] == '.')
		error_set(&err, ERROR_USAGE, "'.' is the only non valid --field-separator argument");
	else if (options->bad_config)
		error_set(&err, ERROR_USAGE, "Invalid compute method: %s", options->bad_config);
	if (err.kind != ERROR_NONE || input_check(&options->input, &err) < 0)
		return complain(&comparison, &err, EXIT_FAILED);
	choose_files(&comparison, argc, argv);
	int code = EXIT_FAILED;
	if (options->order >= comparison.file_count) {
		error_set(&err, ERROR_USAGE, "Order option out of limit.");
		error_hint(&err, "-o takes the number of a file: 0 to %u", comparison.file_count - 1);
		complain(&comparison, &err, code);
	} else {
		code = compare_files(&comparison);
	}
	comparison_close(&comparison);
	return code;
}

const struct command command_diff = {
	.name = "diff",
	.summary = "compare recordings: whose share of the samples changed",
	.usage = diff_usage,
	.options = diff_table,
	.options_size = sizeof(struct diff_cli_options),
	.defaults = diff_defaults,
	.run = diff_run,
	.pages = true,
};
