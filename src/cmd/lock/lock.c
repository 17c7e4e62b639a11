#include "cmd/lock/lock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/commands.h"
#include "os/tracefs.h"

enum { ENTRIES_ALL = 0x3fffffff, STACK_DEPTH = 8, STACK_SKIP = 4, MAP_ENTRIES = 16384 };

#define O struct lock_options

static const struct option lock_table[] = { LOCK_ROWS, OPT_END() };

static const struct option info_table[] = {
	OPT_BOOL('t', "threads", O, threads, "list the threads"),
	OPT_BOOL('m', "map", O, info_map, "list the locks with their addresses"),
	LOCK_ROWS,
	OPT_END(),
};

static const struct option report_table[] = {
	OPT_STRING('k', "key", O, key, "field", "order by this field: acquired, contended, avg_wait, wait_total, wait_max, wait_min (acquired)"),
	OPT_STRING('F', "field", O, fields, "field,...", "show these fields, separated by commas (all)"),
	OPT_BOOL('c', "combine-locks", O, combine, "add up the locks of one class"),
	OPT_BOOL('t', "threads", O, threads, "add up by thread"),
	OPT_INT('E', "entries", O, entries, "show so many rows"),
	OPT_FORMAT(O, format),
	LOCK_ROWS,
	OPT_END(),
};
#undef O

void lock_options_defaults(struct lock_options *options)
{
	input_defaults(&options->input);
	options->entries = ENTRIES_ALL;
	options->max_stack = STACK_DEPTH;
	options->stack_skip = STACK_SKIP;
	options->map_entries = MAP_ENTRIES;
}

void lock_options_fini(struct lock_options *options)
{
	vec_fini(&options->types.list);
	vec_fini(&options->addresses.list);
	vec_fini(&options->cgroups.list);
	vec_fini(&options->symbols.list);
	vec_fini(&options->callers.list);
	arena_fini(&options->texts);
}

static void defaults(void *target, __attribute__((unused)) const struct cli *cli)
{
	lock_options_defaults(target);
}

int lock_output_open(struct lock_output *output, struct cli *cli, const struct lock_options *options, struct error *err)
{
	*output = (struct lock_output){ .path = options->output };
	if (options->output) {
		output->to = &output->file.out;
		return written_open(&output->file, options->output, err);
	}
	writer_flush(cli->out, NULL);
	writer_open(&output->error, STDERR_FILENO, 1 << 16);
	output->error.terminal = cli->tty_err;
	output->to = format_is_table(options->format) ? cli->out : &output->error;
	return 0;
}

int lock_output_close(struct lock_output *output, struct cli *cli, int code)
{
	struct error err = { 0 };
	if (output->path) {
		if (written_keep(&output->file, output->path, &err) < 0) {
			cli_complain(cli, &err);
			code = EXIT_ERROR;
		}
		written_drop(&output->file);
		return code;
	}
	if (writer_flush(&output->error, NULL) < 0 && !code)
		code = EXIT_ERROR;
	writer_fini(&output->error);
	return code;
}

static bool has_tracepoint(const char *name)
{
	uint64_t id;
	return tracefs_id("lock", name, &id, NULL) == 0;
}

static int record_run(struct cli *cli, int argc, const char **argv)
{
	static const char *const lockdep[] = { "lock_acquire", "lock_acquired", "lock_contended", "lock_release" };
	static const char *const contention[] = { "contention_begin", "contention_end" };
	static const char *const fixed[] = { "-R", "-m", "1024", "-c", "1", "--synth", "task" };
	static const char *const chains[] = { "--call-graph", "fp,8" };
	char events[4][40];
	bool all = true;
	for (size_t i = 0; i < 4; i++)
		all &= has_tracepoint(lockdep[i]);
	for (size_t i = 0; !all && i < 2; i++) {
		if (!has_tracepoint(contention[i])) {
			cli_warn(cli, "tracepoint lock:%s is not enabled.", contention[i]);
			return EXIT_ERROR;
		}
	}
	struct command_words words = { 0 };
	command_words_add(&words, fixed, sizeof fixed / sizeof *fixed);
	for (size_t i = 0; i < (all ? 4 : 2); i++) {
		snprintf(events[i], sizeof events[i], "lock:%s", all ? lockdep[i] : contention[i]);
		vec_push(&words.list, "-e");
		vec_push(&words.list, events[i]);
	}
	for (size_t i = 0; !all && i < 2; i++)
		vec_push(&words.list, chains[i]);
	command_words_add(&words, argv + 1, (size_t)argc - 1);
	return command_words_run(&words, cli, "record");
}

/* perf lock script is perf script. */
static int script_run(struct cli *cli, const struct lock_options *options, int argc, const char **argv)
{
	struct command_words words = { 0 };
	if (options->input.path) {
		vec_push(&words.list, "-i");
		vec_push(&words.list, options->input.path);
	}
	command_words_add(&words, argv + 1, (size_t)argc - 1);
	return command_words_run(&words, cli, "script");
}

static const char *const report_usage[] = { "perf lock report [<options>]", NULL };
static const char *const info_usage[] = { "perf lock info [<options>]", NULL };
static const char *const lock_usage[] = { "perf lock [<options>] {record|report|script|info|contention}", NULL };
static const char *const lock_words[] = { "record", "report", "script", "info", "contention", NULL };

static const struct command parts[] = {
	{ .name = "report", .usage = report_usage, .options = report_table, .run = lock_report_run },
	{ .name = "info", .usage = info_usage, .options = info_table, .run = lock_info_run },
	{ .name = "contention", .usage = lock_contention_usage, .options = lock_contention_table, .run = lock_contention_run,
		.options_mode = OPTIONS_STOP_AT_NON_OPTION },
};

enum { PARTS = sizeof parts / sizeof *parts };

int lock_usage_of(const struct cli *cli, const char *part)
{
	for (size_t i = 0; i < PARTS; i++)
		if (strcmp(parts[i].name, part) == 0)
			return cli_usage(cli, &parts[i], NULL);
	return EXIT_USAGE;
}

void lock_usage_about(const struct cli *cli, const struct error *err)
{
	cli_usage(cli, &parts[PARTS - 1], err);
}

/* perf takes the first three letters or more of these. */
static bool is_word(const char *word, const char *name)
{
	return strlen(word) > 2 && strncmp(word, name, strlen(word)) == 0;
}

static int lock_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	struct lock_options *options = filled;
	int code = -1;
	if (!argc)
		return cli_usage(cli, &command_lock, NULL);
	if (is_word(argv[0], "record"))
		code = record_run(cli, argc, argv);
	else if (strcmp(argv[0], "script") == 0)
		code = script_run(cli, options, argc, argv);
	for (size_t i = 0; code < 0 && i < PARTS; i++)
		if (is_word(argv[0], parts[i].name))
			code = command_run_filled(cli, &parts[i], options, argc - 1, argv + 1);
	lock_options_fini(options);
	return code < 0 ? cli_usage(cli, &command_lock, NULL) : code;
}

const struct command command_lock = {
	.name = "lock",
	.summary = "analyse who waits for which lock",
	.usage = lock_usage,
	.options = lock_table,
	.options_size = sizeof(struct lock_options),
	.defaults = defaults,
	.options_mode = OPTIONS_STOP_AT_NON_OPTION,
	.run = lock_run,
	.subcommands = lock_words,
};
