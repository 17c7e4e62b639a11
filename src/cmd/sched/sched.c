/* `sched`: recordings of the scheduler's events, and their analyses. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/commands.h"
#include "cmd/sched/sched.h"
#include "os/tracefs.h"

enum { SYSTEM = sizeof "sched:" - 1 };

size_t sched_tracepoints(const struct cli *cli, const char *names[SCHED_TRACEPOINTS_MAX])
{
	/* missing: what is unknown on a kernel without it; NULL: nothing that others do not show */
	static const struct {
		const char *name, *missing;
	} all[] = {
		{ "sched:sched_switch", NULL },
		{ "sched:sched_stat_runtime", "what runs after a lost switch is unknown until the next one" },
		{ "sched:sched_process_fork", "a thread id that is used again looks like one task" },
		{ "sched:sched_wakeup_new", "the first wait of a new task for a CPU is unknown" },
		{ "sched:sched_migrate_task", "migrations are unknown" },
		{ "sched:sched_waking", NULL },
		{ "sched:sched_stat_wait", NULL }, { "sched:sched_stat_sleep", NULL }, { "sched:sched_stat_iowait", NULL },
	};
	_Static_assert(sizeof all / sizeof *all <= SCHED_TRACEPOINTS_MAX, "each has its place");
	size_t count = 0;
	uint64_t id;
	bool readable = tracefs_id("sched", all[0].name + SYSTEM, &id, NULL) >= 0; /* otherwise opening it fails, and gives the reason */
	names[count++] = all[0].name;
	for (size_t i = 1; i < sizeof all / sizeof *all; i++) {
		bool exists = tracefs_id("sched", all[i].name + SYSTEM, &id, NULL) >= 0;
		if (exists || (!readable && all[i].missing))
			names[count++] = all[i].name;
		else if (strcmp(all[i].name, "sched:sched_waking") == 0)
			names[count++] = "sched:sched_wakeup";
		else if (all[i].missing)
			cli_warn(cli, "the kernel has no tracepoint %s: %s", all[i].name, all[i].missing);
	}
	return count;
}

static int run_record(struct cli *cli, int argc, const char **argv)
{
	const char *names[SCHED_TRACEPOINTS_MAX];
	struct command_words words = { 0 };
	static const char *const fixed[] = { "-a", "-R", "-m", "1024", "-c", "1" };
	size_t count = sched_tracepoints(cli, names);
	command_words_add(&words, fixed, sizeof fixed / sizeof *fixed);
	for (size_t i = 0; i < count; i++) {
		vec_push(&words.list, "-e");
		vec_push(&words.list, names[i]);
	}
	command_words_add(&words, argv, (size_t)argc);
	return command_words_run(&words, cli, "record");
}

/* Options before the word are those of `script`, too. */
static int run_script(struct cli *cli, const struct sched_options *options, int argc, const char **argv)
{
	struct command_words words = { 0 };
	if (options->input.path) {
		vec_push(&words.list, "-i");
		vec_push(&words.list, options->input.path);
	}
	if (options->input.force)
		vec_push(&words.list, "-f");
	if (options->dump)
		vec_push(&words.list, "-D");
	for (int i = 0; i < options->input.verbose; i++)
		vec_push(&words.list, "-v");
	command_words_add(&words, argv, (size_t)argc);
	return command_words_run(&words, cli, "script");
}

static void sched_defaults(void *filled, const struct cli *cli)
{
	struct sched_options *options = filled;
	input_defaults(&options->input);
	options->cpu = CPU_NONE;
	options->repeat = 10;
	options->chains = true;
	options->max_stack = 5;
}

static const struct option sched_table[] = {
	SCHED_OPTIONS,
	OPT_END(),
};

static const char *const sched_usage[] = { "perf sched [<options>] {record|latency|map|replay|script|timehist|stats}", NULL };

extern const struct command command_sched;

/* perf takes the first letters of these words, three at least. */
static bool is_start(const char *word, const char *name)
{
	return strlen(word) > 2 && strncmp(word, name, strlen(word)) == 0;
}

static int sched_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	static const struct {
		const struct command *command;
		bool shortened;
	} parts[] = {
		{ &sched_latency, true }, { &sched_map, false }, { &sched_replay, true }, { &sched_timehist, false },
		{ &sched_stats, false },
	};
	if (!argc)
		return cli_usage(cli, &command_sched, NULL);
	if (strcmp(argv[0], "script") == 0)
		return run_script(cli, filled, argc - 1, argv + 1);
	if (is_start(argv[0], "record"))
		return run_record(cli, argc - 1, argv + 1);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		const char *name = parts[i].command->name;
		if (parts[i].shortened ? is_start(argv[0], name) : strcmp(argv[0], name) == 0)
			return command_run_filled(cli, parts[i].command, filled, argc - 1, argv + 1);
	}
	return cli_usage(cli, &command_sched, NULL);
}

static const char *const sched_words[] = { "record", "latency", "map", "replay", "script", "timehist", "stats", NULL };

const struct command command_sched = {
	.name = "sched",
	.summary = "show who ran, who waited for a CPU, and for how long",
	.usage = sched_usage,
	.options = sched_table,
	.options_size = sizeof(struct sched_options),
	.options_mode = OPTIONS_STOP_AT_NON_OPTION,
	.defaults = sched_defaults,
	.run = sched_run,
	.subcommands = sched_words,
};
