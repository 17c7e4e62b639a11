#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/flame_sink.h"
#include "analysis/kernel_extent.h"
#include "cmd/command.h"
#include "cmd/files_told.h"
#include "cmd/jit.h"
#include "cmd/kernel_files.h"
#include "cmd/progress.h"
#include "cmd/unwind_remarks.h"
#include "data/evsel_name.h"
#include "os/cpus.h"
#include "render/flame_svg.h"
#include "render/folded.h"
#include "tracepoint/tracepoint.h"

extern const struct command command_flamegraph;

enum { STACK_MAX = 65535 };
static const double MIN_WIDTH_PIXELS = 0.1;

struct flamegraph_options {
	const char *input, *output, *title, *subtitle, *event;
	const char *comms, *pids, *tids, *cpus, *dsos, *time;
	enum flame_roots roots;
	enum flame_weigh weigh;
	double min_width;          /* pixels, or per cent of the whole */
	bool min_width_percent;
	unsigned width, max_stack;
	bool force, folded, annotate, reverse, inlines, lines, full_source_path, inverted, demangle, jit, join_stacks;
	struct symbols_options symbols;
	int verbose;
};

struct word {
	const char *word;
	int value;
};

static const struct word root_words[] = {
	{ "comm", FLAME_ROOT_COMM }, { "pid", FLAME_ROOT_PID }, { "tid", FLAME_ROOT_TID }, { "none", FLAME_ROOT_NONE }, { NULL, 0 },
};
static const struct word weigh_words[] = {
	{ "period", FLAME_BY_PERIOD }, { "samples", FLAME_BY_SAMPLES }, { "time", FLAME_BY_TIME }, { NULL, 0 },
};

static int find_word(const struct word *words, const struct option *option, const char *arg, struct error *err)
{
	for (; words->word; words++)
		if (strcmp(words->word, arg) == 0)
			return words->value;
	return error_set(err, ERROR_USAGE, "--%s takes %s, not '%s'", option->long_name, option->arg, arg);
}

static int set_roots(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct flamegraph_options *options = target;
	int value = unset ? FLAME_ROOT_COMM : find_word(root_words, option, arg, err);
	options->roots = (enum flame_roots)value;
	return value < 0 ? -1 : 0;
}

static int set_weigh(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct flamegraph_options *options = target;
	int value = unset ? FLAME_BY_PERIOD : find_word(weigh_words, option, arg, err);
	options->weigh = (enum flame_weigh)value;
	return value < 0 ? -1 : 0;
}

static int set_min_width(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct flamegraph_options *options = target;
	options->min_width = MIN_WIDTH_PIXELS;
	options->min_width_percent = false;
	if (unset)
		return 0;
	char *end;
	options->min_width = strtod(arg, &end);
	options->min_width_percent = strcmp(end, "%") == 0;
	bool plain = *end == '\0' || strcmp(end, "px") == 0 || options->min_width_percent;
	if (end == arg || !plain || !(options->min_width >= 0 && options->min_width <= 1e6))
		return error_set(err, ERROR_USAGE, "--min-width takes pixels or a percentage such as 0.5%%, not '%s'", arg);
	return 0;
}

#define O struct flamegraph_options
static const struct option flamegraph_table[] = {
	OPT_STRING('i', "input", O, input, "file", "the recording to draw (perf.data; - is stdin)"),
	OPT_STRING('o', "output", O, output, "file", "where the graph goes (flamegraph.svg; folded text: stdout; - is stdout)"),
	OPT_BOOL(0, "folded", O, folded, "write folded text, one line per stack, instead of a picture"),
	OPT_BOOL(0, "annotate", O, annotate, "folded text: mark kernel _[k], JIT-compiled _[j] and inlined _[i] frames"),
	OPT_BOOL(0, "inline", O, inlines, "show functions that the compiler put into others, where debug information tells (on)"),
	OPT_BOOL(0, "srcline", O, lines, "tell frames apart by source line, too, where debug information tells"),
	OPT_BOOL(0, "full-source-path", O, full_source_path, "with the whole path of their file"),
	OPT_BOOL(0, "reverse", O, reverse, "merge the stacks from their innermost frames"),
	OPT_BOOL(0, "inverted", O, inverted, "grow downwards, with the root on top"),
	OPT_STRING(0, "title", O, title, "text", "headline of the picture"),
	OPT_STRING(0, "subtitle", O, subtitle, "text", "a second line under the headline"),
	OPT_UINT(0, "width", O, width, "pixels across (1200, and as wide as the window where scripts run)"),
	OPT_CALLBACK(0, "min-width", O, min_width, "pixels|n%", "leave narrower frames out (0.1 pixels)", set_min_width),
	OPT_CALLBACK(0, "by", O, roots, "comm|pid|tid|none", "what the stacks stand on (comm)", set_roots),
	OPT_CALLBACK(0, "weight", O, weigh, "period|samples|time", "what a frame's width tells (period)", set_weigh),
	OPT_STRING('e', "event", O, event, "event", "draw this event (the first that has samples)"),
	OPT_STRING(0, "comm", O, comms, "name,...", "only samples of these commands"),
	OPT_STRING(0, "pid", O, pids, "pid,...", "only samples of these processes"),
	OPT_STRING(0, "tid", O, tids, "tid,...", "only samples of these threads"),
	OPT_STRING('C', "cpu", O, cpus, "cpus", "only samples of these CPUs, as in 0-3,8"),
	OPT_STRING(0, "time", O, time, "start,stop", "only samples of this span: seconds, or slices such as 10%/2"),
	OPT_STRING(0, "dso", O, dsos, "name,...", "only samples that hit these modules"),
	OPT_UINT(0, "max-stack", O, max_stack, "frames of a stack that are kept, from the innermost"),
	OPT_STRING(0, "symfs", O, symbols.symfs, "dir", "look for programs and libraries under this folder"),
	OPT_STRING('k', "vmlinux", O, symbols.vmlinux, "file", "the kernel's symbols are in this vmlinux"),
	OPT_STRING(0, "kallsyms", O, symbols.kallsyms, "file", "the kernel's symbols are in this kallsyms"),
	OPT_BOOL(0, "demangle", O, demangle, "show C++, Rust and D names as in the source (on)"),
	OPT_BOOL(0, "demangle-kernel", O, symbols.demangle_kernel, "the kernel's too"),
	OPTION_ROW(BOOL, 0, "short-names", O, symbols.short_names, "without the arguments of templates and generics", .flags = OPTION_OWN),
	OPTION_ROW(BOOL, 0, "jit", O, jit, "names of JIT-compiled code from its compiler's dump (on)", .flags = OPTION_OWN),
	OPTION_ROW(BOOL, 0, "join-stacks", O, join_stacks, "complete cut stacks by earlier ones of the thread", .flags = OPTION_OWN),
	OPT_BOOL('f', "force", O, force, "do not ask whose file it is"),
	OPT_INCR('v', "verbose", O, verbose, "tell more"),
	OPT_END(),
};
#undef O

static const char *const flamegraph_usage[] = { "perf flamegraph [<options>]", NULL };

static void flamegraph_defaults(void *target, const struct cli *cli)
{
	struct flamegraph_options *options = target;
	options->inlines = options->demangle = options->jit = true;
	options->min_width = MIN_WIDTH_PIXELS;
	options->max_stack = STACK_MAX;
	options->title = "Flame graph";
}

/* One run. */
struct drawing {
	const struct cli *cli;
	const struct flamegraph_options *options;
	struct session session;
	struct progress progress;
	struct jit_names jit;
	struct symbols *symbols;
	struct name_list *comms, *pids, *tids, *dsos;
	struct time_filter time;
	struct cpus cpus;
	uint64_t cpu_bits[CPUS_MAX / 64];
	struct flame_sink *sink;
	struct flame_counts counts;
	struct flame_builder builder;
	struct flame_tree tree;
};

static void drawing_close(struct drawing *drawing)
{
	flame_tree_fini(&drawing->tree);
	flame_builder_fini(&drawing->builder);
	flame_sink_free(drawing->sink);
	files_tell(drawing->cli, drawing->symbols, &drawing->session, drawing->options->verbose);
	symbols_free(drawing->symbols);
	name_list_close(drawing->comms);
	name_list_close(drawing->pids);
	name_list_close(drawing->tids);
	name_list_close(drawing->dsos);
	time_filter_fini(&drawing->time);
	cpus_fini(&drawing->cpus);
	if (drawing->session.source)
		session_close(&drawing->session);
}

/* Without a CPU in its samples a recording has none that would pass. */
static int check_cpus(const struct drawing *drawing, struct error *err)
{
	const struct evlist *evlist = session_evlist(&drawing->session);
	bool known = !drawing->options->cpus || evlist->events.count == 0;
	for (size_t i = 0; i < evlist->events.count; i++)
		known |= (evlist->events.items[i].attr.sample_type & SAMPLE_CPU) != 0;
	if (known)
		return 0;
	error_set(err, ERROR_USAGE, "the recording does not tell on which CPUs its samples were taken");
	return error_hint(err, "record with --sample-cpu or -a, or leave -C out");
}

static int open_filters(struct drawing *drawing, struct flame_filter *filter, struct error *err)
{
	const struct flamegraph_options *options = drawing->options;
	uint64_t first, last;
	time_filter_bounds(&drawing->session.source->header, &first, &last);
	if ((options->comms && name_list_open(&drawing->comms, options->comms, err) < 0)
		|| (options->dsos && name_list_open(&drawing->dsos, options->dsos, err) < 0)
		|| (options->pids && number_list_open(&drawing->pids, options->pids, err) < 0)
		|| (options->tids && number_list_open(&drawing->tids, options->tids, err) < 0)
		|| (options->time && time_filter_parse(&drawing->time, options->time, first, last, false, err) < 0)
		|| (options->cpus && cpus_parse(&drawing->cpus, options->cpus, err) < 0))
		return -1;
	for (size_t i = 0; i < drawing->cpus.list.count; i++) {
		int32_t cpu = drawing->cpus.list.items[i];
		if (cpu >= 0 && cpu < CPUS_MAX)
			drawing->cpu_bits[cpu / 64] |= 1ull << (cpu % 64);
	}
	*filter = (struct flame_filter){
		.comms = drawing->comms, .pids = drawing->pids, .tids = drawing->tids, .modules = drawing->dsos,
		.when = options->time ? &drawing->time : NULL,
		.cpus = options->cpus ? drawing->cpu_bits : NULL, .cpu_count = CPUS_MAX,
	};
	return 0;
}

static bool tracepoint_lookup(const void *context, uint64_t id, const char **system, const char **name)
{
	return tracepoints_name(context, id, system, name);
}

/* Old recordings tell tracepoints by number alone. */
static void name_events(struct header *header)
{
	struct tracepoints *tracepoints;
	struct span formats = header->feature_data[FEATURE_TRACING_DATA];
	bool nameless = false;
	for (size_t i = 0; i < header->evlist.events.count; i++) {
		const struct evsel *evsel = &header->evlist.events.items[i];
		nameless |= evsel->attr.type == ATTR_TRACEPOINT && !evsel->name;
	}
	if (!nameless || !formats.data || tracepoints_open(&tracepoints, formats, NULL) < 0)
		return;
	evlist_name_tracepoints(&header->evlist, tracepoint_lookup, tracepoints);
	tracepoints_close(tracepoints);
}

/* A file tells its events before the first sample; a pipe does not. */
static int check_event(const struct drawing *drawing, struct error *err)
{
	const struct header *header = &drawing->session.source->header;
	if (!drawing->options->event || header->pipe)
		return 0;
	struct str names CLEANUP_STR = { 0 };
	char buffer[EVSEL_NAME_MAX];
	for (size_t i = 0; i < header->evlist.events.count; i++) {
		const char *name = evsel_name(&header->evlist.events.items[i], buffer, sizeof buffer);
		if (flame_event_matches(drawing->options->event, name))
			return 0;
		str_printf(&names, "%s%s", i ? ", " : "", name);
	}
	error_set(err, ERROR_USAGE, "the recording has no event '%s'", drawing->options->event);
	return error_hint(err, "it has: %s", str_text(&names));
}

static int drawing_open(struct drawing *drawing, struct error *err)
{
	const struct flamegraph_options *options = drawing->options;
	struct source *source;
	struct source_options source_options = { .force = options->force };
	if (source_open(&source, options->input ? options->input : "perf.data", &source_options, err) < 0)
		return -1;
	struct image_options images = { .symfs = options->symbols.symfs, .buildid_dir = drawing->cli->buildid_dir };
	struct session_options session_options = {
		.images = &images, .join_stacks = options->join_stacks, .keep_exited = true,
		.kernel_beyond = kernel_extent_beyond, .kernel_parts = kernel_extent_parts,
		.kernel_beyond_context = &drawing->symbols,
	};
	progress_watch(&drawing->progress, drawing->cli, source->path, &session_options);
	drawing->jit = (struct jit_names){ .cli = drawing->cli, .symfs = options->symbols.symfs, .force = options->force };
	if (options->jit)
		jit_names_watch(&drawing->jit, &session_options);
	if (session_open(&drawing->session, source, &session_options, err) < 0)
		return -1;
	name_events(&source->header);
	struct flame_options flame = {
		.event = options->event, .roots = options->roots, .weigh = options->weigh, .max_stack = options->max_stack,
		.reverse = options->reverse, .inlines = options->inlines, .folded = options->folded, .annotate = options->annotate,
		.lines = options->lines || options->full_source_path, .full_path = options->full_source_path,
	};
	if (check_event(drawing, err) < 0 || check_cpus(drawing, err) < 0 || open_filters(drawing, &flame.filter, err) < 0)
		return -1;
	struct symbols_options symbols = options->symbols;
	symbols.buildid_dir = drawing->cli->buildid_dir;
	symbols.osrelease = header_string(&source->header, FEATURE_OSRELEASE);
	symbols.no_demangle = !options->demangle;
	symbols.verbose = options->verbose;
	symbols.debuginfod = drawing->cli->debuginfod;
	symbols.kept_dir = drawing->cli->kept_dir;
	drawing->symbols = flame.symbols = symbols_new(&drawing->session.model.modules, &symbols);
	drawing->sink = flame_sink_new(&flame, session_workers(&drawing->session));
	flame_builder_init(&drawing->builder);
	return 0;
}

/* 1234567 as "1,234,567". */
static void add_number(struct str *text, uint64_t number)
{
	char digits[24];
	int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			str_putc(text, ',');
		str_putc(text, digits[i]);
	}
}

/* " · 12 samples lost", where there are any. */
static void add_count(struct str *text, uint64_t count, const char *one, const char *many)
{
	if (!count)
		return;
	str_puts(text, " \xc2\xb7 ");
	add_number(text, count);
	str_puts(text, count == 1 ? one : many);
}

static void add_weight(struct str *text, const struct drawing *drawing, const char *event)
{
	struct flame_weight total = flame_builder_total(&drawing->builder);
	bool clock = strncmp(event, "cpu-clock", 9) == 0 || strncmp(event, "task-clock", 10) == 0;
	if (drawing->options->weigh == FLAME_BY_TIME)
		str_printf(text, " \xc2\xb7 %.2f s between samples", (double)total.weight / 1e9);
	else if (drawing->options->weigh == FLAME_BY_PERIOD && clock)
		str_printf(text, " \xc2\xb7 %.2f s of CPU time", (double)total.weight / 1e9);
	else if (total.weight != total.samples)
		add_count(text, total.weight, " event", " events");
}

/* What the picture shows, and what it does not. */
static void describe(struct str *text, const struct drawing *drawing, bool cut)
{
	const struct session_counters *counters = &drawing->session.counters;
	const struct flame_counts *counts = &drawing->counts;
	const struct flamegraph_options *options = drawing->options;
	char buffer[EVSEL_NAME_MAX];
	const char *event = "no event";
	if (counts->event != UINT32_MAX)
		event = evsel_name(&session_evlist(&drawing->session)->events.items[counts->event], buffer, sizeof buffer);
	str_printf(text, "%s \xc2\xb7 ", event);
	add_number(text, counts->samples);
	str_puts(text, counts->samples == 1 ? " sample" : " samples");
	add_weight(text, drawing, event);
	add_count(text, counts->filtered, " sample filtered out", " samples filtered out");
	add_count(text, counts->other_events, " sample of other events", " samples of other events");
	add_count(text, counters->lost_samples, " sample lost", " samples lost");
	add_count(text, counters->lost_events, " record lost", " records lost");
	add_count(text, counters->bad_samples + counters->unknown_ids, " sample unreadable", " samples unreadable");
	if (cut)
		str_puts(text, " \xc2\xb7 recording incomplete");
	if (drawing->tree.dropped) {
		add_count(text, drawing->tree.dropped, " frame", " frames");
		str_printf(text, " below %g%s not drawn", options->min_width, options->min_width_percent ? "%" : " px");
	}
}

static uint64_t least_weight(const struct drawing *drawing)
{
	const struct flamegraph_options *options = drawing->options;
	uint64_t total = flame_builder_total(&drawing->builder).weight;
	if (options->folded)
		return 1;
	double pixels = options->min_width;
	if (options->min_width_percent)
		pixels *= ((options->width ? options->width : FLAME_SVG_WIDTH) - 2 * FLAME_SVG_MARGIN) / 100.0;
	return flame_svg_least(pixels, total, options->width);
}

static void write_graph(struct drawing *drawing, struct writer *out, bool cut)
{
	const struct flamegraph_options *options = drawing->options;
	if (options->folded) {
		folded_write(out, &drawing->tree);
		return;
	}
	struct str facts CLEANUP_STR = { 0 };
	describe(&facts, drawing, cut);
	struct flame_svg svg = {
		.title = options->title, .subtitle = options->subtitle, .facts = str_text(&facts), .width = options->width,
		.inverted = options->inverted,
	};
	flame_svg_write(out, &drawing->tree, &svg);
}

static int write_file(struct drawing *drawing, const char *path, bool cut, struct error *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return error_system(err, "%s", path);
	struct writer out;
	writer_open(&out, fd, 1 << 16);
	write_graph(drawing, &out, cut);
	int result = writer_flush(&out, err);
	writer_fini(&out);
	if (close(fd) < 0 && result >= 0)
		result = error_system(err, "%s", path);
	return result;
}

static int draw(struct cli *cli, struct drawing *drawing, struct error *err)
{
	const struct flamegraph_options *options = drawing->options;
	struct sink sink = flame_sink_of(drawing->sink);
	struct error cut = { 0 };
	int whole = session_run(&drawing->session, &sink, &cut);
	jit_names_warn(&drawing->jit, &drawing->session);
	unwind_remarks(cli, &drawing->session);
	drawing->counts = flame_sink_finish(drawing->sink, &drawing->session, &drawing->builder);
	if (whole < 0 && drawing->counts.samples == 0) { /* not worth what may stand in the file's place */
		*err = cut;
		return -1;
	}
	flame_tree_make(&drawing->tree, &drawing->builder, least_weight(drawing));
	const char *path = options->output ? options->output : options->folded ? "-" : "flamegraph.svg";
	if (strcmp(path, "-") == 0)
		write_graph(drawing, cli->out, whole < 0);
	else if (write_file(drawing, path, whole < 0, err) < 0)
		return -1;
	else if (cli->tty_out)
		writer_printf(cli->out, "%s: %llu samples, %u frames\n", path, (unsigned long long)drawing->counts.samples,
			drawing->tree.count - 1);
	if (whole < 0) {
		*err = cut;
		return -1;
	}
	if (drawing->counts.samples == 0)
		cli_warn(cli, "there is no sample to draw%s", drawing->counts.filtered ? " that passes the filters" : "");
	return 0;
}

static int flamegraph_run(struct cli *cli, void *arg, int argc, const char **argv)
{
	const struct flamegraph_options *options = arg;
	struct error err = { 0 };
	if (argc)
		return cli_usage(cli, &command_flamegraph, NULL);
	if (options->width && (options->width < FLAME_SVG_WIDTH_MIN || options->width > FLAME_SVG_WIDTH_MAX)) {
		error_set(&err, ERROR_USAGE, "--width takes %d to %d pixels", FLAME_SVG_WIDTH_MIN, FLAME_SVG_WIDTH_MAX);
		return cli_usage(cli, &command_flamegraph, &err);
	}
	if (options->max_stack < 1 || options->max_stack > STACK_MAX) {
		error_set(&err, ERROR_USAGE, "--max-stack takes 1 to %d frames", STACK_MAX);
		return cli_usage(cli, &command_flamegraph, &err);
	}
	if (kernel_files_check(options->symbols.vmlinux, options->symbols.kallsyms, &err) < 0)
		return cli_complain(cli, &err);
	struct drawing *drawing = memory_zero(1, sizeof *drawing);
	drawing->cli = cli;
	drawing->options = options;
	int code = drawing_open(drawing, &err) < 0 || draw(cli, drawing, &err) < 0 ? cli_complain(cli, &err) : 0;
	drawing_close(drawing);
	free(drawing);
	return code;
}

const struct command command_flamegraph = {
	.name = "flamegraph",
	.summary = "draw a recording's stacks as a flame graph",
	.usage = flamegraph_usage,
	.options = flamegraph_table,
	.options_size = sizeof(struct flamegraph_options),
	.defaults = flamegraph_defaults,
	.run = flamegraph_run,
};
