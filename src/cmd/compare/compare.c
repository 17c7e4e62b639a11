#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/runs/stat_lines.h"
#include "base/mapping.h"
#include "base/regular.h"
#include "cmd/command.h"
#include "cmd/compare/options.h"
#include "cmd/compare/recordings.h"
#include "cmd/event_files.h"
#include "record/count/counting.h"
#include "render/stat/runs_text.h"

extern const struct command command_compare;

static const char default_events[] = "task-clock,context-switches,cpu-migrations,page-faults,cycles,instructions";
enum { RUNS_MAX = 100000, RUNS_FEW = 6 };

struct comparison {
	struct cli *cli;
	const struct compare_options *options;
	struct events events;
	struct command_words commands[RUN_SIDES];
	const char *names[RUN_SIDES];
	struct runs runs;
	struct arena arena;
	struct str unsupported;       /* names of events */
	bool reported;                /* whether they are known */
};

static void comparison_close(struct comparison *c)
{
	events_fini(&c->events);
	for (int side = 0; side < RUN_SIDES; side++)
		vec_fini(&c->commands[side].list);
	runs_fini(&c->runs);
	str_fini(&c->unsupported);
	arena_fini(&c->arena);
}

static int parse_events(struct comparison *c)
{
	struct event_error why;
	struct writer out;
	const char *text = c->options->events ? c->options->events : default_events;
	event_files_set(c->cli, &c->events.pmus);
	if (events_parse(&c->events, text, &why) == 0)
		return 0;
	writer_open(&out, -1, 0);
	event_error_print(&why, &out);
	cli_warn(c->cli, "%.*s", (int)out.len - 1, out.buffer);
	writer_fini(&out);
	return EXIT_USAGE;
}

/* An event that the machine cannot count is left out, and named at the end. */
static void note_unsupported(struct comparison *c, const struct counting *counting)
{
	for (size_t i = 0; !c->reported && i < c->events.list.count; i++)
		if (counting->measurement.counters.states.items[i] != COUNTER_OPENED)
			str_printf(&c->unsupported, "%s%s", c->unsupported.len ? ", " : "", c->events.list.items[i].name);
	c->reported = true;
}

/* The sum of an event's counters, as if it had counted all the time; < 0: it never ran. */
static double event_value(const struct counting *counting, const struct counts *counts, uint32_t event)
{
	const struct counters *counters = &counting->measurement.counters;
	double sum = 0;
	bool ran = false;
	for (size_t i = 0; i < counts->list.count; i++) {
		const struct count *count = &counts->list.items[i];
		if (counters->list.items[i].event != event || !count->running)
			continue;
		ran = true;
		sum += (double)count->value * ((double)count->enabled / (double)count->running);
	}
	return ran ? sum : -1;
}

static void add_values(struct comparison *c, struct counting *counting, enum run_side side)
{
	struct counts counts = { 0 };
	counting_read(counting, &counts);
	runs_add(&c->runs, side, "elapsed", "msec", (double)(counting->end_ns - counting->start_ns) / 1e6);
	for (uint32_t i = 0; i < c->events.list.count; i++) {
		const struct event *event = &c->events.list.items[i];
		double value = counting->measurement.counters.states.items[i] == COUNTER_OPENED ? event_value(counting, &counts, i) : -1;
		if (value >= 0)
			runs_add(&c->runs, side, event->name, event->unit ? event->unit : "", value * (event->scale ? event->scale : 1));
	}
	vec_fini(&counts.list);
}

static int check_status(const struct comparison *c, const struct counting *counting, enum run_side side, struct error *err)
{
	int status = counting->measurement.workload.status;
	if (c->options->ignore_failure || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
		return 0;
	if (WIFSIGNALED(status))
		error_set(err, ERROR_SYSTEM, "signal %d ended the command: %s", WTERMSIG(status), c->names[side]);
	else
		error_set(err, ERROR_SYSTEM, "the command ends with exit code %d: %s", WEXITSTATUS(status), c->names[side]);
	return error_hint(err, "-i compares commands that fail, too");
}

/* One run of one command. Returns the exit code of a failure, 0 otherwise. */
static int run_once(struct comparison *c, enum run_side side, bool counts)
{
	struct counting counting = { 0 };
	struct error err = { 0 };
	const struct counting_options options = {
		.events = &c->events, .command = c->commands[side].list.items, .command_to_stderr = true, .target = { .command = true },
	};
	int code = 0;
	if (counting_open(&counting, &options, &err) < 0) {
		code = EXIT_FAILED;
	} else if (note_unsupported(c, &counting), counting_start(&counting, &err) < 0) {
		code = EXIT_NOT_STARTED;
	} else {
		while (!counting_ended(&counting))
			counting_wait(&counting, -1);
		counting_end(&counting, true);
		if (counting.measurement.signals.ended_by)
			code = EXIT_FAILED;
		else if (check_status(c, &counting, side, &err) < 0)
			code = EXIT_ERROR;
		else if (counts)
			add_values(c, &counting, side);
	}
	if (err.kind != ERROR_NONE)
		cli_complain(c->cli, &err);
	counting_close(&counting);
	return code;
}

/* In turns, so that changes of the machine affect both. */
static int run_commands(struct comparison *c)
{
	const struct compare_options *options = c->options;
	for (unsigned i = 0; i < options->warmup + options->runs; i++)
		for (int side = 0; side < RUN_SIDES; side++) {
			int code = run_once(c, (enum run_side)side, i >= options->warmup);
			if (code)
				return code;
		}
	return 0;
}

/* "A -- B": the words of both. */
static int take_words(struct comparison *c, int argc, const char **argv, struct error *err)
{
	int at = 0;
	while (at < argc && strcmp(argv[at], "--") != 0)
		at++;
	if (!at || at + 1 >= argc)
		return error_set(err, ERROR_OPTION, "two commands are needed: -- COMMAND A -- COMMAND B");
	for (int i = 0; i < argc; i++)
		if (i != at)
			vec_push(&c->commands[i < at ? RUN_A : RUN_B].list, argv[i]);
	for (int side = 0; side < RUN_SIDES; side++)
		vec_push(&c->commands[side].list, NULL);
	return 0;
}

static void name_commands(struct comparison *c)
{
	for (int side = 0; side < RUN_SIDES; side++) {
		CLEANUP_STR struct str name = { 0 };
		for (size_t i = 0; i + 1 < c->commands[side].list.count; i++)
			str_printf(&name, "%s%s", i ? " " : "", c->commands[side].list.items[i]);
		c->names[side] = arena_string(&c->arena, str_text(&name), name.len);
	}
}

static int take_commands(struct comparison *c, int argc, const char **argv, struct error *err)
{
	const struct compare_options *options = c->options;
	if (!options->commands[RUN_A] && !options->commands[RUN_B]) {
		if (take_words(c, argc, argv, err) < 0)
			return -1;
	} else if (!options->commands[RUN_A] || !options->commands[RUN_B] || argc) {
		return error_set(err, ERROR_OPTION, "--a and --b belong together, and exclude other words");
	}
	for (int side = 0; side < RUN_SIDES && options->commands[RUN_A]; side++)
		if (command_words_split(&c->commands[side], options->commands[side], &c->arena, err) < 0)
			return -1;
	if (options->runs < 1 || options->runs > RUNS_MAX || options->warmup > RUNS_MAX)
		return error_set(err, ERROR_OPTION, "-n takes 1 to %d runs", RUNS_MAX);
	name_commands(c);
	return 0;
}

static int read_results(struct comparison *c, enum run_side side, const char *path, struct error *err)
{
	enum { BYTES_MAX = 256 << 20 };
	struct stat_lines lines = { 0 };
	struct stat st;
	int fd = regular_open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0) {
		error_system(err, "cannot open %s", path);
		close(fd);
		return -1;
	}
	size_t size = st.st_size > BYTES_MAX ? BYTES_MAX : (size_t)st.st_size;
	void *text = size ? mapping_open(fd, size) : NULL;
	close(fd);
	if (size && !text)
		return error_system(err, "cannot read %s", path);
	bool recorded = recording_starts(text, size);
	if (!recorded)
		stat_lines_read(&lines, text, size, &c->runs, side);
	mapping_close(text, size);
	c->names[side] = path;
	if (recorded)
		return recording_read(path, &c->runs, side, c->cli->budget, err);
	if (lines.values)
		return 0;
	error_set(err, ERROR_FORMAT, "%s has no results of `stat -j` or `stat record`", path);
	return error_hint(err, "perf stat -j -o FILE --append COMMAND, several times, writes them");
}

static int print(struct comparison *c)
{
	const struct compare_options *options = c->options;
	bool few = false;
	runs_compare(&c->runs);
	for (size_t i = 0; i < c->runs.list.count; i++)
		for (int side = 0; side < RUN_SIDES; side++)
			few |= c->runs.list.items[i].values[side].count < RUNS_FEW;
	if (few)
		cli_warn(c->cli, "a counter has fewer than %d values: its change cannot be distinguished from noise", RUNS_FEW);
	if (c->unsupported.len && !options->quiet)
		cli_warn(c->cli, "This machine or kernel cannot count: %s", str_text(&c->unsupported));
	if (format_is_table(options->format)) {
		struct runs_results results;
		runs_results_init(&results, &c->runs, c->names);
		options->format->print(&results.results, c->cli->out);
	} else {
		runs_text_print(&c->runs, c->names, c->cli->tty_out, c->cli->out);
	}
	return options->fail_given && 100 * runs_largest(&c->runs) > options->fail_above ? EXIT_CHANGED : 0;
}

static int compare_run(struct cli *cli, void *arg, int argc, const char **argv)
{
	struct comparison c = { .cli = cli, .options = arg };
	struct error err = { 0 };
	int code = 0;
	bool separated = c.options->commands[RUN_A] || c.options->commands[RUN_B];
	for (int i = 0; i < argc; i++)
		separated |= strcmp(argv[i], "--") == 0;
	if (argc == 2 && !separated) {
		for (int side = 0; side < RUN_SIDES && !code; side++)
			if (read_results(&c, (enum run_side)side, argv[side], &err) < 0)
				code = cli_complain(cli, &err);
	} else if (take_commands(&c, argc, argv, &err) < 0) {
		code = cli_usage(cli, &command_compare, &err);
	} else {
		code = parse_events(&c);
		code = code ? code : run_commands(&c);
	}
	code = code ? code : print(&c);
	comparison_close(&c);
	return code;
}

const struct command command_compare = {
	.name = "compare",
	.summary = "compare two commands: which counters changed",
	.usage = compare_usage,
	.options = compare_table,
	.options_size = sizeof(struct compare_options),
	.defaults = compare_defaults,
	.options_mode = OPTIONS_STOP_AT_NON_OPTION,
	.run = compare_run,
};
