#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/format_option.h"
#include "cmd/input.h"
#include "cmd/off_cpu_run.h"
#include "cmd/offcpu_text.h"
#include "cmd/result_file.h"
#include "render/svg/flame_svg.h"
#include "render/text/folded.h"

extern const struct command command_offcpu;

enum { STACK_MAX = 127, ENTRIES = 20 };

struct offcpu_command {
	struct input_options input;
	struct off_cpu_request request;
	struct off_cpu_recording recording;
	const char *flamegraph;
	const struct format *format;
	enum offcpu_group group;
	unsigned entries, max_stack;
	bool folded, wakers, on_cpu;
};

static int set_group(void *target, __attribute__((unused)) const struct option *option, const char *arg, bool unset, struct error *err)
{
	static const char *const words[] = { [OFFCPU_BY_STACK] = "stack", [OFFCPU_BY_THREAD] = "thread", [OFFCPU_BY_REASON] = "reason" };
	struct offcpu_command *options = target;
	options->group = OFFCPU_BY_STACK;
	for (int i = 0; !unset && i < 3; i++) {
		if (strcmp(arg, words[i]) == 0) {
			options->group = (enum offcpu_group)i;
			return 0;
		}
	}
	return unset ? 0 : error_set(err, ERROR_USAGE, "--by takes stack, thread or reason, not '%s'", arg);
}

#define O struct offcpu_command
static const struct option offcpu_table[] = {
	OFF_CPU_TARGET_OPTIONS(O, request),
	OPT_STRING('i', "input", O, input.path, "file", "read a recording of record --off-cpu instead of measuring"),
	OPT_STRING('o', "output", O, request.output, "file", "keep the recording in this file"),
	OPT_CALLBACK(0, "by", O, group, "stack|thread|reason", "add up by call chain, thread or reason (stack)", set_group),
	OPT_BOOL('w', "wakers", O, wakers, "record who ends each wait, too: rows and flame graphs show the waker"),
	OPT_BOOL(0, "on-cpu", O, on_cpu, "sample what runs, too: the flame graph shows both by time"),
	OPT_STRING(0, "flamegraph", O, flamegraph, "file", "draw a flame graph of the blocked time into this file (- is stdout)"),
	OPT_BOOL(0, "folded", O, folded, "print call chains as folded text: functions, and ns"),
	OPT_UINT('E', "entries", O, entries, "show so many rows (20)"),
	OPT_UINT(0, "max-stack", O, max_stack, "the most frames of a call chain (127)"),
	OPT_INCR('v', "verbose", O, input.verbose, "print the call chain of each row"),
	OPT_BOOL('f', "force", O, input.force, "read a recording of another user, too"),
	OPT_FORMAT(O, format),
	OPT_END(),
};
#undef O

static const char *const offcpu_usage[] = { "perf offcpu [<options>] [<command>]", "perf offcpu -i <file> [<options>]", NULL };

static void offcpu_defaults(void *target, __attribute__((unused)) const struct cli *cli)
{
	struct offcpu_command *options = target;
	input_defaults(&options->input);
	options->entries = ENTRIES;
	options->max_stack = STACK_MAX;
}

struct picture {
	const struct offcpu_command *options;
	const struct offcpu_rows *rows;
	const struct flame_tree *tree;
};

static void draw(const void *context, struct writer *out)
{
	const struct picture *picture = context;
	const struct offcpu_rows *rows = picture->rows;
	char facts[128];
	snprintf(facts, sizeof facts, "%.2f s blocked in %llu waits", (double)rows->total_ns / 1e9, (unsigned long long)rows->count);
	const char *title = picture->options->on_cpu ? "Time on and off CPU"
		: picture->options->wakers ? "Blocked time and wakers" : "Blocked time";
	const struct flame_svg svg = { .title = title, .facts = facts };
	flame_svg_write(out, picture->tree, &svg);
}

static int show(struct cli *cli, const struct offcpu_command *options, struct offcpu_rows *rows, struct error *err)
{
	struct flame_tree tree = { 0 };
	int status = 0;
	offcpu_finish(rows);
	if (options->flamegraph || options->folded)
		flame_tree_make(&tree, &rows->flame, options->folded ? 1 : flame_svg_least(0.1, rows->total_ns, 0));
	if (options->flamegraph)
		status = result_file_write(cli, options->flamegraph, draw, &(struct picture){ options, rows, &tree }, err);
	if (options->folded) {
		folded_write(cli->out, &tree);
	} else if (format_is_table(options->format)) {
		const struct results results = { .schema = "perfuse.offcpu", .version = 1, .tables = &rows->table, .table_count = 1 };
		options->format->print(&results, cli->out);
	} else {
		offcpu_text_print(rows, &(struct offcpu_text){ options->entries, options->input.verbose > 0 }, cli->out);
	}
	flame_tree_fini(&tree);
	return status;
}

static int analyse(struct cli *cli, struct offcpu_command *options, struct error *err)
{
	struct input input;
	struct offcpu_rows rows;
	int code = EXIT_FAILED;
	if (input_open(&input, cli, &options->input, &(struct input_use){ .keep_exited = true, .threads = 1, .no_progress = true }, err) < 0) {
		input_close(&input);
		return EXIT_FAILED;
	}
	off_cpu_remove(&options->recording); /* it is open: a signal leaves nothing behind */
	input_symbols(&input);
	const struct offcpu_options how = { .symbols = input.symbols, .group = options->group, .max_stack = options->max_stack,
		.on_cpu = options->on_cpu, .wakers = options->wakers };
	offcpu_init(&rows, &how);
	const struct sink sink = offcpu_sink(&rows);
	input_run(&input, &sink);
	if (!rows.samples)
		error_set(err, ERROR_USAGE, "%s has no blocked time: no sample of the event %s", input.path, OFF_CPU_EVENT);
	if (!rows.samples && options->input.path && !options->request.command)
		error_hint(err, "'perf record --off-cpu' records it, and 'perf offcpu' without -i measures now");
	if (rows.samples && show(cli, options, &rows, err) == 0)
		code = 0;
	int end = input_end(&input, false, false);
	offcpu_fini(&rows);
	input_close(&input);
	return code ? code : end;
}

static int offcpu_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	struct offcpu_command *options = filled;
	struct off_cpu_recording *recording = &options->recording;
	struct error err = { 0 };
	int code = 0;
	if (argc && options->input.path) {
		error_set(&err, ERROR_USAGE, "-i reads a recording: a command cannot be measured with it");
		return cli_usage(cli, &command_offcpu, &err);
	}
	bool measures = !options->input.path;
	if (measures) {
		options->request.command = argv;
		options->request.command_words = argc;
		options->request.event = options->on_cpu ? "cpu-clock" : "dummy:u";
		options->request.details = options->wakers ? "wakers" : "state";
		code = off_cpu_run(cli, &options->request, recording);
		options->input.path = recording->path;
	}
	if (!code)
		code = analyse(cli, options, &err);
	if (err.kind != ERROR_NONE)
		cli_complain(cli, &err);
	if (measures)
		off_cpu_remove(recording);
	return code;
}

const struct command command_offcpu = {
	.name = "offcpu",
	.summary = "show where and why threads wait",
	.usage = offcpu_usage,
	.options = offcpu_table,
	.options_size = sizeof(struct offcpu_command),
	.defaults = offcpu_defaults,
	.options_mode = OPTIONS_STOP_AT_NON_OPTION,
	.run = offcpu_run,
};
