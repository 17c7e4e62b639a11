#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/flame/flame_sink.h"
#include "cmd/command.h"
#include "cmd/filter.h"
#include "cmd/input.h"
#include "cmd/loss_summary.h"
#include "cmd/result_file.h"
#include "data/evsel_name.h"
#include "render/svg/flame_svg.h"
#include "render/text/folded.h"

extern const struct command command_flamegraph;

enum { STACK_MAX = 65535 };
static const double MIN_WIDTH_PIXELS = 0.1;

struct flamegraph_options {
	struct input_options input;
	const char *output, *title, *subtitle, *event, *old; /* old: compare with this recording */
	enum flame_widths widths;
	enum flame_colours colours;
	struct filter_options filter;
	enum flame_roots roots;
	enum flame_weigh weigh;
	double min_width;          /* pixels, or per cent of the whole */
	bool min_width_percent;
	unsigned width, max_stack;
	bool folded, annotate, reverse, inlines, lines, full_source_path, inverted, fold_recursion;
};

struct word {
	const char *word;
	int value;
};

static const struct word root_words[] = {
	{ "comm", FLAME_ROOT_COMM }, { "pid", FLAME_ROOT_PID }, { "tid", FLAME_ROOT_TID }, { "thread", FLAME_ROOT_TID },
	{ "cpu", FLAME_ROOT_CPU }, { "none", FLAME_ROOT_NONE }, { NULL, 0 },
};
static const struct word weigh_words[] = {
	{ "period", FLAME_BY_PERIOD }, { "samples", FLAME_BY_SAMPLES }, { "time", FLAME_BY_TIME }, { NULL, 0 },
};

static const struct word width_words[] = {
	{ "both", FLAME_WIDTH_BOTH }, { "old", FLAME_WIDTH_OLD }, { "new", FLAME_WIDTH_NEW }, { NULL, 0 },
};
static const struct word colour_words[] = { { "kind", FLAME_COLOURS_KIND }, { "module", FLAME_COLOURS_MODULE }, { NULL, 0 } };

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

static int set_widths(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct flamegraph_options *options = target;
	int value = unset ? FLAME_WIDTH_BOTH : find_word(width_words, option, arg, err);
	options->widths = (enum flame_widths)value;
	return value < 0 ? -1 : 0;
}

static int set_colours(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct flamegraph_options *options = target;
	int value = unset ? FLAME_COLOURS_KIND : find_word(colour_words, option, arg, err);
	options->colours = (enum flame_colours)value;
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
	OPT_STRING('o', "output", O, output, "file", "write the graph to this file (flamegraph.svg; folded text: stdout; - is stdout)"),
	OPT_BOOL(0, "folded", O, folded, "write folded text, one line per stack, instead of a picture"),
	OPT_BOOL(0, "annotate", O, annotate, "folded text: mark kernel _[k], JIT-compiled _[j] and inlined _[i] frames"),
	OPT_BOOL(0, "inline", O, inlines, "show inlined functions, as far as debug information names them (on)"),
	OPT_BOOL(0, "srcline", O, lines, "distinguish frames by source line, too, as far as debug information has lines"),
	OPT_BOOL(0, "full-source-path", O, full_source_path, "with the whole path of their file"),
	OPT_BOOL(0, "reverse", O, reverse, "merge the stacks from their innermost frames"),
	OPT_BOOL(0, "inverted", O, inverted, "grow downwards, with the root on top"),
	OPT_STRING(0, "title", O, title, "text", "headline of the picture"),
	OPT_STRING(0, "subtitle", O, subtitle, "text", "a second line under the headline"),
	OPT_UINT(0, "width", O, width, "pixels across (1200, and as wide as the window where scripts draw_recording)"),
	OPT_CALLBACK(0, "min-width", O, min_width, "pixels|n%", "leave narrower frames out (0.1 pixels)", set_min_width),
	OPT_CALLBACK(0, "by", O, roots, "comm|pid|tid|thread|cpu|none",
		"the first frame of each stack (comm); thread is tid", set_roots),
	OPT_STRING(0, "diff", O, old, "file", "compare with this older recording: red frames have more, blue ones less"),
	OPT_CALLBACK(0, "widths", O, widths, "both|old|new", "with --diff: frames are as wide as both shares, or as one (both)", set_widths),
	OPT_CALLBACK(0, "colors", O, colours, "kind|module", "a colour for each kind of code, or for each module (kind)", set_colours),
	OPT_BOOL(0, "fold-recursion", O, fold_recursion, "draw a function that calls itself as one frame"),
	OPT_CALLBACK(0, "weight", O, weigh, "period|samples|time", "what a frame's width shows (period)", set_weigh),
	OPT_STRING('e', "event", O, event, "event", "draw this event (the first that has samples)"),
	FILTER_OPTIONS(O, filter),
	OPT_STRING(0, "dso", O, filter.dsos, "name,...", "only samples that hit these modules"),
	OPT_UINT(0, "max-stack", O, max_stack, "the most frames of a stack, from the innermost"),
	INPUT_OPTIONS(O, input, "draw", "dir", ""),
	INPUT_NAME_OPTIONS(O, input),
	OPT_END(),
};
#undef O

static const char *const flamegraph_usage[] = { "perf flamegraph [<options>]", NULL };

static void flamegraph_defaults(void *target, const struct cli *cli)
{
	struct flamegraph_options *options = target;
	input_defaults(&options->input);
	options->inlines = true;
	options->min_width = MIN_WIDTH_PIXELS;
	options->max_stack = STACK_MAX;
}

/* A recording that is drawn. */
struct drawn {
	struct input_options options;
	struct input input;
	struct sample_filter filter;
	struct flame_sink *sink;
	struct flame_counts counts;
};

/* One run. */
struct drawing {
	struct cli *cli;
	const struct flamegraph_options *options;
	struct drawn sides[FLAME_SIDES]; /* [FLAME_OLD] with --diff alone */
	struct flame_builder builder;
	struct flame_tree tree;
};

static void drawing_close(struct drawing *drawing)
{
	flame_tree_fini(&drawing->tree);
	flame_builder_fini(&drawing->builder);
	for (int side = 0; side < FLAME_SIDES; side++) {
		flame_sink_free(drawing->sides[side].sink);
		sample_filter_fini(&drawing->sides[side].filter);
		input_close(&drawing->sides[side].input);
	}
}

/* Samples without a CPU pass no filter of CPUs, and belong below no CPU. */
static int check_cpus(const struct drawing *drawing, const struct drawn *drawn, struct error *err)
{
	const struct evlist *evlist = session_evlist(&drawn->input.session);
	bool by_cpu = drawing->options->roots == FLAME_ROOT_CPU;
	bool known = (!drawing->options->filter.cpus && !by_cpu) || evlist->events.count == 0;
	for (size_t i = 0; i < evlist->events.count; i++)
		known |= (evlist->events.items[i].attr.sample_type & SAMPLE_CPU) != 0;
	if (known)
		return 0;
	error_set(err, ERROR_USAGE, "the samples of this recording have no CPU");
	return error_hint(err, "record with --sample-cpu or -a, or leave %s out", by_cpu ? "--by cpu" : "-C");
}

/* The events of a file are known before the first sample; those of a pipe are not. */
static int check_event(const struct drawing *drawing, const struct drawn *drawn, struct error *err)
{
	const struct header *header = &drawn->input.session.source->header;
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

static int open_recording(struct drawing *drawing, struct drawn *drawn, const char *path, struct error *err)
{
	const struct flamegraph_options *options = drawing->options;
	drawn->options = options->input;
	drawn->options.path = path;
	if (input_open(&drawn->input, drawing->cli, &drawn->options, &(struct input_use){ .keep_exited = true, .remarks = REMARKS_ALL },
			err) < 0)
		return -1;
	input_name_events(&drawn->input);
	struct flame_options flame = {
		.event = options->event, .roots = options->roots, .weigh = options->weigh, .max_stack = options->max_stack,
		.reverse = options->reverse, .inlines = options->inlines, .folded = options->folded, .annotate = options->annotate,
		.lines = options->lines || options->full_source_path, .full_path = options->full_source_path,
		.fold_recursion = options->fold_recursion,
	};
	if (check_event(drawing, drawn, err) < 0 || check_cpus(drawing, drawn, err) < 0
		|| filter_open(&drawn->filter, &options->filter, &drawn->input.session.source->header, err) < 0)
		return -1;
	flame.filter = drawn->filter;
	input_symbols(&drawn->input);
	flame.symbols = drawn->input.symbols;
	drawn->sink = flame_sink_new(&flame, session_workers(&drawn->input.session));
	return 0;
}

static int drawing_open(struct drawing *drawing, struct error *err)
{
	const struct flamegraph_options *options = drawing->options;
	if (open_recording(drawing, &drawing->sides[FLAME_NEW], options->input.path, err) < 0)
		return -1;
	if (options->old && open_recording(drawing, &drawing->sides[FLAME_OLD], options->old, err) < 0)
		return -1;
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

static const char *event_name(const struct drawn *drawn, char *buffer, size_t size)
{
	if (drawn->counts.event == UINT32_MAX)
		return "no event";
	return evsel_name(&session_evlist(&drawn->input.session)->events.items[drawn->counts.event], buffer, size);
}

static void add_samples(struct str *text, const struct drawn *drawn)
{
	add_number(text, drawn->counts.samples);
	str_puts(text, drawn->counts.samples == 1 ? " sample" : " samples");
}

/* What one recording lacks. */
static void add_losses(struct str *text, const struct drawn *drawn)
{
	const struct session_counters *counters = &drawn->input.session.counters;
	const struct flame_counts *counts = &drawn->counts;
	add_count(text, counts->filtered, " sample filtered out", " samples filtered out");
	add_count(text, counts->other_events, " sample of other events", " samples of other events");
	add_count(text, counters->lost_samples, " sample lost", " samples lost");
	add_count(text, counters->lost_events, " record lost", " records lost");
	add_count(text, counters->bad_samples + counters->unknown_ids, " sample unreadable", " samples unreadable");
	if (drawn->input.losses.stop.kind != ERROR_NONE || drawn->input.losses.unfinished)
		str_puts(text, " \xc2\xb7 recording incomplete");
}

/* The text above the graph: which samples it shows and which it omits. */
static void describe(struct str *text, const struct drawing *drawing)
{
	const struct flamegraph_options *options = drawing->options;
	const struct drawn *drawn = &drawing->sides[FLAME_NEW], *old = &drawing->sides[FLAME_OLD];
	char buffer[EVSEL_NAME_MAX];
	const char *event = event_name(drawn, buffer, sizeof buffer);
	str_printf(text, "%s \xc2\xb7 ", event);
	if (options->old) {
		add_samples(text, old);
		add_losses(text, old);
		str_puts(text, " \xe2\x86\x92 ");
	}
	add_samples(text, drawn);
	if (!options->old)
		add_weight(text, drawing, event);
	add_losses(text, drawn);
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

static void write_graph(const void *context, struct writer *out)
{
	const struct drawing *drawing = context;
	const struct flamegraph_options *options = drawing->options;
	if (options->folded) {
		folded_write(out, &drawing->tree);
		return;
	}
	struct str facts CLEANUP_STR = { 0 };
	describe(&facts, drawing);
	const char *title = options->old ? "Differential flame graph" : "Flame graph";
	struct flame_svg svg = {
		.title = options->title ? options->title : title, .subtitle = options->subtitle, .facts = str_text(&facts), .width = options->width,
		.inverted = options->inverted, .colours = options->colours,
	};
	flame_svg_write(out, &drawing->tree, &svg);
}

static void read_recording(struct drawing *drawing, struct drawn *drawn)
{
	struct sink sink = flame_sink_of(drawn->sink);
	input_run(&drawn->input, &sink);
	drawn->counts = flame_sink_finish(drawn->sink, &drawn->input.session, &drawing->builder);
}

/* Both recordings must show the same event. */
static int check_sides(const struct drawing *drawing, struct error *err)
{
	char old_name[EVSEL_NAME_MAX], new_name[EVSEL_NAME_MAX];
	const struct drawn *old = &drawing->sides[FLAME_OLD], *new = &drawing->sides[FLAME_NEW];
	for (int side = 0; side < FLAME_SIDES; side++)
		if (drawing->sides[side].counts.samples == 0)
			return error_set(err, ERROR_USAGE, "%s has no sample to compare%s", drawing->sides[side].input.path,
				drawing->sides[side].counts.filtered ? " that passes the filters" : "");
	const struct attr *x = &session_evlist(&old->input.session)->events.items[old->counts.event].attr;
	const struct attr *y = &session_evlist(&new->input.session)->events.items[new->counts.event].attr;
	if (x->type == y->type && x->config == y->config)
		return 0;
	error_set(err, ERROR_USAGE, "the recordings have different events: '%s' in %s and '%s' in %s", event_name(old, old_name, sizeof old_name),
		old->input.path, event_name(new, new_name, sizeof new_name), new->input.path);
	return error_hint(err, "-e chooses an event");
}

static int read_sides(struct drawing *drawing, struct error *err)
{
	read_recording(drawing, &drawing->sides[FLAME_OLD]);
	flame_builder_end_side(&drawing->builder, FLAME_OLD);
	read_recording(drawing, &drawing->sides[FLAME_NEW]);
	flame_builder_end_side(&drawing->builder, FLAME_NEW);
	flame_builder_compare(&drawing->builder, drawing->options->widths);
	return check_sides(drawing, err);
}

static int draw(struct cli *cli, struct drawing *drawing, struct error *err)
{
	const struct flamegraph_options *options = drawing->options;
	const struct drawn *drawn = &drawing->sides[FLAME_NEW];
	if (options->old && read_sides(drawing, err) < 0)
		return -1;
	if (!options->old)
		read_recording(drawing, &drawing->sides[FLAME_NEW]);
	if (drawn->input.losses.stop.kind != ERROR_NONE && drawn->counts.samples == 0) /* not worth replacing a file */
		return 0;
	flame_tree_make(&drawing->tree, &drawing->builder, least_weight(drawing));
	const char *path = options->output ? options->output : options->folded ? "-" : "flamegraph.svg";
	if (result_file_write(cli, path, write_graph, drawing, err) < 0)
		return -1;
	if (cli->tty_out && strcmp(path, "-") != 0)
		writer_printf(cli->out, "%s: %llu samples, %u frames\n", path, (unsigned long long)drawn->counts.samples,
			drawing->tree.count - 1);
	if (drawn->counts.samples == 0)
		cli_warn(cli, "there is no sample to draw%s", drawn->counts.filtered ? " that passes the filters" : "");
	return 0;
}

static int draw_recording(struct cli *cli, struct drawing *drawing)
{
	struct error err = { 0 };
	if (drawing_open(drawing, &err) < 0) {
		cli_complain(cli, &err);
		bool opened = drawing->sides[FLAME_NEW].input.session.source
			&& (!drawing->options->old || drawing->sides[FLAME_OLD].input.session.source);
		return opened ? EXIT_ERROR : EXIT_FAILED;
	}
	int code = draw(cli, drawing, &err) < 0 ? cli_complain(cli, &err) : 0;
	for (int side = drawing->options->old ? FLAME_OLD : FLAME_NEW; side < FLAME_SIDES; side++) {
		int damaged = input_end(&drawing->sides[side].input, false, true);
		code = code ? code : damaged;
	}
	return code;
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
	if (input_check(&options->input, &err) < 0)
		return cli_complain(cli, &err);
	struct drawing *drawing = memory_zero(1, sizeof *drawing);
	drawing->cli = cli;
	drawing->options = options;
	int code = draw_recording(cli, drawing);
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
