#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "cmd/bench/bench.h"
#include "cmd/bench/switch_plot.h"
#include "cmd/command.h"
#include "cmd/format_option.h"
#include "cmd/sampling.h"
#include "os/cpus.h"
#include "render/format/aligned.h"

extern const struct command command_bench;

enum { RESULTS_VERSION = 1, SWEEP_MAX = 64, ROUNDS = 100000, SLEEP_ROUNDS = 1000, ARGUMENTS_MAX = 32 };

/* What a sweep varies, and its values. */
struct sweep {
	enum sweep_of { SWEEP_NOTHING, SWEEP_PAIRS, SWEEP_SET, SWEEP_BYTES, SWEEP_WORK } of;
	uint64_t values[SWEEP_MAX];
	size_t count;
};

static const struct option switch_table_of_options[] = {
	OPT_STRING('m', "model", struct bench_options, model, "model",
		"who takes the turns: threads (the default), or one thread with epoll, io_uring or coroutines"),
	OPT_UINT('n', "pairs", struct bench_options, pairs, "pairs of ends; threads for yield and sleep (default: 1)"),
	OPT_U64('l', "loop", struct bench_options, rounds, "rounds of each pair (default: 100000; 1000 for sleep)"),
	OPT_UINT('b', "bytes", struct bench_options, bytes, "size of a message (default: 8)"),
	OPT_U64('w', "work", struct bench_options, work_ns, "CPU time of each turn besides the exchange, in ns (default: 0)"),
	OPT_U64(0, "sleep", struct bench_options, sleep_ns, "how long each turn of sleep is, in ns (default: 100000)"),
	OPT_STRING('s', "set", struct bench_options, set, "size", "memory that each end touches at each turn, e.g. 64K (default: 0)"),
	OPT_UINT(0, "stride", struct bench_options, stride, "distance of the touched bytes (default: 64)"),
	OPT_STRING('C', "cpu", struct bench_options, cpus, "cpus", "the CPUs that the ends may use, e.g. 0-1,3"),
	OPT_STRING(0, "sweep", struct bench_options, sweep, "pairs|set|bytes|work=values", "a run for each value, e.g. set=4K,64K,1M"),
	OPT_UINT('r', "repeat", struct bench_options, repeat, "runs of each plan (default: 1)"),
	OPT_BOOL(0, "histogram", struct bench_options, histogram, "show the latencies of each run as bars, one for each power of two"),
	OPT_BOOL(0, "counters", struct bench_options, counters, "count cycles, instructions, cache and TLB misses, which makes switches slower"),
	OPT_FORMAT(struct bench_options, format),
	OPT_END(),
};

static const char *const switch_usage[] = { "perf bench switch {yield|sleep|futex|pipe|eventfd|socketpair|socket} [<options>]", NULL };

static void bench_defaults(void *filled, __attribute__((unused)) const struct cli *cli)
{
	*(struct bench_options *)filled = (struct bench_options){
		.pairs = 1, .bytes = 8, .stride = 64, .repeat = 1, .sleep_ns = 100000, .futexes = 1024, .seconds = 10, .wakes = 1, .requeues = 1,
		.groups = 10, .size = "1MB", .function = "all", .loops = 1, .breakpoints = 1, .parallel = 1, .started = 1,
		.clones = 1, .mappings = 100, .samples = 100,
		.numa = { .processes = 1, .threads = 1, .seconds = 5, .loops = -1, .global_mb = "1", .process_mb = "0", .locked_mb = "0",
			.thread_mb = "0" },
	};
}

static int value_parse(const char *text, uint64_t *value, struct error *err)
{
	bool plain;
	if (!size_parse(text, value, &plain))
		return error_set(err, ERROR_USAGE, "'%s' is not a number or size", text);
	return 0;
}

static int sweep_parse(struct sweep *sweep, const char *text, struct error *err)
{
	static const char *const names[] = { "", "pairs=", "set=", "bytes=", "work=" };
	*sweep = (struct sweep){ .count = 1 };
	if (!text)
		return 0;
	for (size_t i = 1; i < sizeof names / sizeof *names; i++) {
		if (!strncmp(text, names[i], strlen(names[i])))
			sweep->of = (enum sweep_of)i;
	}
	if (sweep->of == SWEEP_NOTHING)
		return error_set(err, ERROR_USAGE, "--sweep takes pairs=, set=, bytes= or work= and values, and not '%s'", text);
	sweep->count = 0;
	for (const char *at = strchr(text, '=') + 1; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		char value[32];
		size_t len = strcspn(at, ",");
		if (sweep->count == SWEEP_MAX || len >= sizeof value)
			return error_set(err, ERROR_USAGE, "--sweep takes at most %d values", SWEEP_MAX);
		memcpy(value, at, len);
		value[len] = '\0';
		if (value_parse(value, &sweep->values[sweep->count++], err) < 0)
			return -1;
	}
	return 0;
}

static uint32_t clamped(uint64_t value)
{
	return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static void sweep_apply(const struct sweep *sweep, size_t index, struct turns_plan *plan)
{
	uint64_t value = sweep->values[index];
	if (sweep->of == SWEEP_PAIRS)
		plan->pairs = clamped(value);
	else if (sweep->of == SWEEP_SET)
		plan->set_bytes = value;
	else if (sweep->of == SWEEP_BYTES)
		plan->bytes = clamped(value);
	else if (sweep->of == SWEEP_WORK)
		plan->work_ns = value;
}

static int plan_parse(const struct bench_options *options, const char *way, struct turns_plan *plan, struct error *err)
{
	int number = turn_way_named(way), model = options->model ? turn_model_named(options->model) : TURN_THREADS;
	if (number < 0)
		return error_set(err, ERROR_USAGE, "there is no benchmark 'switch %s'", way);
	if (model < 0)
		return error_set(err, ERROR_USAGE, "--model takes threads, epoll, io_uring or coroutines, and not '%s'", options->model);
	*plan = (struct turns_plan){ .way = (enum turn_way)number, .model = (enum turn_model)model, .pairs = options->pairs,
		.rounds = options->rounds ? options->rounds : number == TURN_SLEEP ? SLEEP_ROUNDS : ROUNDS, .bytes = options->bytes,
		.sleep_ns = options->sleep_ns, .work_ns = options->work_ns, .stride = options->stride };
	return options->set ? value_parse(options->set, &plan->set_bytes, err) : 0;
}

/* The threads of the plans inherit the CPUs of this one. */
static int use_cpus(const char *text, struct error *err)
{
	struct cpus cpus = { 0 };
	cpu_set_t set;
	if (!text)
		return 0;
	if (cpus_parse(&cpus, text, err) < 0)
		return -1;
	CPU_ZERO(&set);
	for (size_t i = 0; i < cpus.list.count; i++) {
		if (cpus.list.items[i] >= 0 && cpus.list.items[i] < CPU_SETSIZE)
			CPU_SET((size_t)cpus.list.items[i], &set);
	}
	cpus_fini(&cpus);
	return sched_setaffinity(0, sizeof set, &set) < 0 ? error_system(err, "cannot use the CPUs %s", text) : 0;
}

static int run_plans(const struct bench_options *options, const struct turns_plan *plan, const struct sweep *sweep,
	struct switch_rows *rows, struct error *err)
{
	for (size_t i = 0; i < sweep->count; i++) {
		struct turns_plan one = *plan;
		sweep_apply(sweep, i, &one);
		if (turns_check(&one, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < sweep->count; i++) {
		for (unsigned turn = 0; turn < options->repeat; turn++) {
			struct switch_row *row = vec_add(&rows->list);
			row->plan = *plan;
			sweep_apply(sweep, i, &row->plan);
			row->counters.events = switch_events;
			const struct turns_meter meter = { &row->counters, switch_counters_begin, switch_counters_end };
			if (turns_run(&row->plan, options->counters ? &meter : NULL, &row->result, err) < 0)
				return -1;
		}
	}
	return 0;
}

/* As perf: the time of each run alone. */
static void print_seconds(const struct switch_rows *rows, struct writer *out)
{
	for (size_t i = 0; i < rows->list.count; i++) {
		uint64_t ms = rows->list.items[i].result.wall_ns / 1000000;
		writer_printf(out, "%llu.%03llu\n", (unsigned long long)ms / 1000, (unsigned long long)ms % 1000);
	}
}

static uint64_t pairs_of(const struct turns_plan *plan)
{
	return plan->pairs;
}

static uint64_t set_of(const struct turns_plan *plan)
{
	return plan->set_bytes;
}

static uint64_t bytes_of(const struct turns_plan *plan)
{
	return plan->bytes;
}

static uint64_t work_of(const struct turns_plan *plan)
{
	return plan->work_ns;
}

static void print_sweep(const struct switch_rows *rows, enum sweep_of of, struct writer *out)
{
	static uint64_t (*const values[])(const struct turns_plan *) = { NULL, pairs_of, set_of, bytes_of, work_of };
	static const char *const names[] = { NULL, "Pairs", "Set (bytes)", "Bytes", "Work (ns)" };
	struct switch_sweep sweep = { .rows = rows, .of = names[of], .value = values[of] };
	const struct table table = sweep_table(&sweep);
	writer_putc(out, '\n');
	aligned_print(&table, out);
}

static void print_rows(struct cli *cli, const struct bench_options *options, const struct switch_rows *rows, const struct sweep *sweep)
{
	struct latency_bars bars = { 0 };
	bool text = !format_is_table(options->format);
	if (options->histogram)
		latency_bars_make(&bars, rows);
	const struct table tables[] = { switch_table(rows), latency_bars_table(&bars, text) };
	const struct results results = { .schema = "perfuse.bench", .version = RESULTS_VERSION, .tables = tables,
		.table_count = options->histogram ? 2 : 1 };
	if (!text) {
		options->format->print(&results, cli->out);
	} else if (options->style && !strcmp(options->style, "simple")) {
		print_seconds(rows, cli->out);
	} else {
		aligned_print(&tables[0], cli->out);
		if (sweep->of != SWEEP_NOTHING)
			print_sweep(rows, sweep->of, cli->out);
		if (options->histogram) {
			writer_putc(cli->out, '\n');
			aligned_print(&tables[1], cli->out);
		}
	}
	vec_fini(&bars.list);
}

static int switch_run(struct cli *cli, void *filled, int argc, const char **argv);

static const struct command command_switch = {
	.name = "switch",
	.summary = "what it costs to wait for each other: threads, event loops, coroutines",
	.usage = switch_usage,
	.options = switch_table_of_options,
	.options_size = sizeof(struct bench_options),
	.run = switch_run,
};

static int switch_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	const struct bench_options *options = filled;
	struct error err = { 0 };
	struct turns_plan plan;
	struct sweep sweep;
	struct switch_rows rows = { 0 };
	if (argc != 1)
		return cli_usage(cli, &command_switch, NULL);
	if (!options->repeat) {
		error_set(&err, ERROR_USAGE, "-r takes a number of runs from 1 on");
		return cli_usage(cli, &command_switch, &err);
	}
	if (plan_parse(options, argv[0], &plan, &err) < 0 || sweep_parse(&sweep, options->sweep, &err) < 0)
		return cli_usage(cli, &command_switch, &err);
	int status = use_cpus(options->cpus, &err);
	if (status == 0)
		status = run_plans(options, &plan, &sweep, &rows, &err);
	if (status == 0)
		print_rows(cli, options, &rows, &sweep);
	vec_fini(&rows.list);
	if (status < 0 && err.kind == ERROR_USAGE)
		return cli_usage(cli, &command_switch, &err);
	if (status < 0)
		cli_complain(cli, &err);
	return status < 0 ? EXIT_FAILED : 0;
}

static const char *const bench_usage[] = {
	"perf bench [-f <format>] [-r <n>] <collection> <benchmark> [<options>]", "perf bench switch <way> [<options>]", NULL
};
static const char *const bench_words[] = {
	"switch", "sched", "syscall", "mem", "numa", "futex", "epoll", "internals", "breakpoint", "uprobe", "all", NULL
};
static const struct option bench_table[] = {
	OPT_STRING('f', "format", struct bench_options, style, "default|simple|json|csv|markdown|tui",
		"how to print the runs; simple: their seconds"),
	OPT_UINT('r', "repeat", struct bench_options, runs,
		"runs of each benchmark (default: 1; 10 of breakpoint, futex wake, wake-parallel, requeue)"),
	OPT_END(),
};

static const struct command *const collections[] = {
	&command_switch, &command_bench_sched, &command_bench_syscall, &command_bench_mem, &command_bench_numa, &command_bench_futex,
	&command_bench_epoll, &command_bench_internals, &command_bench_breakpoint, &command_bench_uprobe, NULL
};

static void list_commands(const struct command *const *list, struct writer *out)
{
	for (; *list; list++)
		writer_printf(out, "%14s: %s\n", (*list)->name, (*list)->summary);
	writer_putc(out, '\n');
}

static const struct command *command_named(const struct command *const *list, const char *name)
{
	while (*list && strcmp((*list)->name, name) != 0)
		list++;
	return *list;
}

static int run_benchmark(struct cli *cli, const char *collection, const struct command *command, struct bench_options *options,
	int argc, const char **argv)
{
	const char *words[ARGUMENTS_MAX + 1] = { NULL }; /* the parser moves them, and all benchmarks of a collection get the same */
	char name[16]; /* of a task */
	for (int i = 0; i < argc && i < ARGUMENTS_MAX; i++)
		words[i] = argv[i];
	snprintf(name, sizeof name, "%s-%s", collection, command->name);
	prctl(PR_SET_NAME, name);
	return command_run_filled(cli, command, options, argc < ARGUMENTS_MAX ? argc : ARGUMENTS_MAX, words);
}

int bench_collection_run(struct cli *cli, const char *collection, const struct command *const *list, struct bench_options *options,
	int argc, const char **argv)
{
	const struct command *command = argc ? command_named(list, argv[0]) : NULL;
	bool all = argc && !strcmp(argv[0], "all");
	int status = 0;
	if (!argc) {
		writer_printf(cli->out, "\n        # Benchmarks of '%s':\n\n", collection);
		list_commands(list, cli->out);
		return 0;
	}
	if (!command && !all) {
		cli_warn(cli, "Unknown benchmark: '%s' for collection '%s'", argv[0], collection);
		return EXIT_ERROR;
	}
	for (size_t i = 0; all && list[i] && status == 0; i++) {
		struct bench_options one = *options;
		writer_printf(cli->out, "# Running %s/%s benchmark...\n", collection, list[i]->name);
		writer_flush(cli->out, NULL);
		status = run_benchmark(cli, collection, list[i], &one, argc - 1, argv + 1);
		writer_putc(cli->out, '\n');
	}
	if (all)
		return status;
	if (!bench_is_simple(options)) {
		writer_printf(cli->out, "# Running '%s/%s' benchmark:\n", collection, command->name);
		writer_flush(cli->out, NULL);
	}
	return run_benchmark(cli, collection, command, options, argc - 1, argv + 1);
}

/* Every benchmark of perf's collections, each with its defaults; one that fails does not end the others. */
static int run_all(struct cli *cli, const struct bench_options *options)
{
	int status = 0;
	for (size_t i = 1; collections[i]; i++) {
		const char *words[] = { "all", NULL };
		struct bench_options one = *options;
		int last = command_run_filled(cli, collections[i], &one, 1, words);
		status = status ? status : last;
	}
	return status;
}

static int bench_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	struct bench_options *options = filled;
	struct error err = { 0 };
	const char *style = options->style;
	const struct command *command = argc ? command_named(collections, argv[0]) : NULL;
	bool is_switch = command == &command_switch;
	if (!argc) {
		cli_usage(cli, &command_bench, NULL);
		writer_puts(cli->out, "        # Collections of benchmarks:\n\n");
		list_commands(collections, cli->out);
		return 0;
	}
	if (!strcmp(argv[0], "all"))
		return argc > 1 ? cli_usage(cli, &command_bench, NULL) : run_all(cli, options);
	if (!command) {
		cli_warn(cli, "Unknown collection: '%s'", argv[0]);
		return EXIT_ERROR;
	}
	if (style && strcmp(style, "default") != 0 && strcmp(style, "simple") != 0) {
		options->format = format_find(style, &err);
		if (options->format && !is_switch && format_is_table(options->format))
			error_set(&err, ERROR_USAGE, "only 'bench switch' has tables: '%s' takes the formats default and simple", argv[0]);
		if (!options->format || err.text[0])
			return cli_usage(cli, &command_bench, &err);
	}
	options->repeat = options->runs ? options->runs : 1;
	return command_run_filled(cli, command, options, argc - 1, argv + 1);
}

const struct command command_bench = {
	.name = "bench",
	.summary = "measure what waiting, system calls, memory, futexes and breakpoints cost",
	.usage = bench_usage,
	.options = bench_table,
	.options_size = sizeof(struct bench_options),
	.defaults = bench_defaults,
	.options_mode = OPTIONS_STOP_AT_NON_OPTION,
	.run = bench_run,
	.subcommands = bench_words,
};
