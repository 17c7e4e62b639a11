/* `timechart`: recordings of who ran when, and their picture. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/filter/name_filter.h"
#include "cmd/commands.h"
#include "cmd/exit_code.h"
#include "cmd/input.h"
#include "cmd/loss_summary.h"
#include "data/feature.h"
#include "os/tracefs.h"
#include "os/written_file.h"
#include "render/svg/timechart_svg.h"

struct timechart_words {
	VEC(const char *) list;
};

struct timechart_command {
	struct input_options input;
	const char *output, *highlight_name;
	struct timechart_words chosen;
	struct io_options io;
	uint64_t highlight_ns;
	int width, tasks;
	bool power_only, tasks_only, topology, skip_again;
	bool io_only, chains; /* record */
};

extern const struct command command_timechart;

static int set_chosen(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct timechart_command *options = target;
	if (!unset)
		vec_push(&options->chosen.list, arg);
	return 0;
}

static int set_highlight(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct timechart_command *options = target;
	if (unset)
		return 0;
	if (options->highlight_ns || options->highlight_name)
		return error_set(err, ERROR_USAGE, "--highlight can be used only once");
	options->highlight_ns = strtoull(arg, NULL, 0);
	options->highlight_name = options->highlight_ns ? NULL : arg;
	return 0;
}

/* "5ms", "200us", "1000" (ns). */
static int parse_time(uint64_t *ns, const struct option *option, const char *arg, struct error *err)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "", 1 }, { "n", 1 }, { "ns", 1 }, { "u", 1000 }, { "us", 1000 }, { "m", 1000000 }, { "ms", 1000000 } };
	char *end;
	uint64_t number = strtoull(arg, &end, 10);
	for (size_t i = 0; end != arg && *arg != '-' && i < sizeof units / sizeof *units; i++)
		if (strcmp(end, units[i].name) == 0 && number <= INT64_MAX / units[i].ns) {
			*ns = number * units[i].ns;
			return 0;
		}
	return error_set(err, ERROR_USAGE, "--%s takes a time such as 5ms, 200us or 1000, not '%s'", option->long_name, arg);
}

static int set_least(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct timechart_command *options = target;
	return unset ? 0 : parse_time(&options->io.least_ns, option, arg, err);
}

static int set_distance(void *target, const struct option *option, const char *arg, bool unset, struct error *err)
{
	struct timechart_command *options = target;
	return unset ? 0 : parse_time(&options->io.distance_ns, option, arg, err);
}

#define O struct timechart_command
#define SHARED                                                                                    \
	OPT_BOOL('P', "power-only", O, power_only, "only the idle states and clocks of CPUs"),    \
	OPT_BOOL('T', "tasks-only", O, tasks_only, "only tasks, without idle states and clocks")

static const struct option timechart_table[] = {
	OPT_STRING('i', "input", O, input.path, "file", "the recording to draw (perf.data; - is stdin)"),
	OPT_STRING('o', "output", O, output, "file", "write the picture to this file (output.svg; - is stdout)"),
	OPT_INT('w', "width", O, width, "pixels across (1000)"),
	OPT_CALLBACK(0, "highlight", O, highlight_ns, "duration|name", "colour turns of this many ns or more, or tasks of this name",
		set_highlight),
	OPT_CALLBACK('p', "process", O, chosen, "process", "draw the tasks with this id or name; may be repeated", set_chosen),
	OPT_STRING(0, "symfs", O, input.symbols.symfs, "directory", "look for programs and libraries under this folder"),
	OPT_INT('n', "proc-num", O, tasks, "draw tasks of less CPU time, too, until there are so many (15)"),
	OPT_BOOL('t', "topology", O, topology, "order CPUs by socket and core"),
	OPT_BOOL(0, "io-skip-eagain", O, skip_again, "leave out calls that failed with EAGAIN"),
	OPT_CALLBACK(0, "io-min-time", O, io, "time", "draw shorter calls this long (1ms)", set_least),
	OPT_CALLBACK(0, "io-merge-dist", O, io, "time", "draw calls as one that are at most this far from each other (1us)", set_distance),
	OPT_BOOL('f', "force", O, input.force, "read a recording of another user, too"),
	SHARED,
	OPT_END(),
};

static const struct option record_table[] = {
	OPT_BOOL('I', "io-only", O, io_only, "record only calls of input and output"),
	OPT_BOOL('g', "callchain", O, chains, "record call chains, too, which give the reasons of waits"),
	SHARED,
	OPT_END(),
};
#undef SHARED
#undef O

static void timechart_defaults(void *filled, const struct cli *cli)
{
	struct timechart_command *options = filled;
	input_defaults(&options->input);
	options->width = TIMECHART_SVG_WIDTH;
	options->tasks = 15;
	options->io = (struct io_options){ .least_ns = 1000000, .distance_ns = 1000 };
}

static int refuse_both(const struct cli *cli)
{
	struct error err = { 0 };
	error_set(&err, ERROR_USAGE, "-P and -T options cannot be used at the same time.");
	cli_complain(cli, &err);
	return EXIT_FAILED;
}

static void add_event(struct command_words *words, const char *name, const char *filter)
{
	vec_push(&words->list, "-e");
	vec_push(&words->list, name);
	if (filter) {
		vec_push(&words->list, "--filter");
		vec_push(&words->list, filter);
	}
}

/* An event without which the picture lacks something, if this kernel has it. Returns how many were added. */
static unsigned add_optional(const struct cli *cli, struct command_words *words, const char *event, const char *missing)
{
	struct error err = { 0 };
	uint64_t id;
	if (tracefs_id("power", event + strlen("power:"), &id, &err) >= 0) {
		add_event(words, event, NULL);
		return 1;
	}
	if (err.kind != ERROR_PERMISSION) /* others fail, too, and give the reason */
		cli_warn(cli, "the kernel has no tracepoint %s: %s", event, missing);
	return 0;
}

/* Both tracepoints of each call that this kernel has; returns how many. */
static unsigned add_calls(struct command_words *words, struct arena *names, const char *filter)
{
	static const char *const sides[] = { "sys_enter_", "sys_exit_" };
	uint64_t id;
	unsigned count = 0;
	for (size_t i = 0; i < timechart_call_count(); i++)
		for (unsigned side = 0; side < 2; side++) {
			struct str name CLEANUP_STR = { 0 };
			str_printf(&name, "syscalls:%s%s", sides[side], timechart_call_name(i));
			if (tracefs_id("syscalls", str_text(&name) + strlen("syscalls:"), &id, NULL) < 0)
				continue;
			add_event(words, arena_string(names, str_text(&name), name.len), filter);
			count++;
		}
	return count;
}

/* Returns the number of events. */
static unsigned add_events(const struct cli *cli, const struct timechart_command *options, struct command_words *words, struct arena *names,
	const char *filter)
{
	unsigned count = 0;
	if (options->io_only)
		return add_calls(words, names, filter);
	if (options->chains)
		vec_push(&words->list, "-g");
	if (!options->power_only) {
		add_event(words, "sched:sched_wakeup", NULL);
		add_event(words, "sched:sched_switch", NULL);
		count += 2;
	}
	if (!options->tasks_only) {
		count += add_optional(cli, words, "power:cpu_frequency", "the clocks of CPUs are not shown");
		count += add_optional(cli, words, "power:cpu_idle", "the idle states of CPUs are not shown");
	}
	return count;
}

static int record_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	/* -o: a pipe on stdout is the command's */
	static const char *const fixed[] = { "-a", "-R", "-c", "1", "-o", "perf.data" };
	const struct timechart_command *options = filled;
	struct command_words words = { 0 };
	struct arena names = { 0 };
	struct error err = { 0 };
	int code = EXIT_FAILED;
	uint64_t id;
	char filter[48];
	if (options->power_only && options->tasks_only)
		return refuse_both(cli);
	snprintf(filter, sizeof filter, "common_pid != %d", (int)getpid()); /* its own writing is no event */
	command_words_add(&words, fixed, sizeof fixed / sizeof *fixed);
	if (add_events(cli, options, &words, &names, filter)) {
		command_words_add(&words, argv, (size_t)argc);
		code = command_words_run(&words, cli, "record");
	} else {
		(void)tracefs_id(options->io_only ? "syscalls" : "power", options->io_only ? "sys_enter_read" : "cpu_idle", &id, &err);
		cli_complain(cli, &err);
		vec_fini(&words.list);
	}
	arena_fini(&names);
	return code;
}

static const char *const record_usage[] = { "perf timechart record [<options>] [<record options>] [<command>]", NULL };

static const struct command timechart_record = {
	.name = "record",
	.usage = record_usage,
	.options = record_table,
	.options_size = sizeof(struct timechart_command),
	.options_mode = OPTIONS_STOP_AT_NON_OPTION,
	.run = record_run,
};

/* The place of a CPU in the lists of sockets, and of threads of a core. */
static uint32_t place_of(const struct feature_strings *lists, int32_t cpu)
{
	for (uint32_t i = 0; i < lists->count; i++) {
		struct name_list *list = NULL;
		bool found = number_list_open(&list, lists->items[i], NULL) == 0 && number_list_has(list, cpu);
		name_list_close(list);
		if (found)
			return i;
	}
	return lists->count;
}

struct ordered_cpu {
	uint32_t socket, core;
	int32_t cpu;
};

static int by_place(const void *a, const void *b)
{
	const struct ordered_cpu *x = a, *y = b;
	if (x->socket != y->socket)
		return x->socket < y->socket ? -1 : 1;
	return x->core != y->core ? (x->core < y->core ? -1 : 1) : x->cpu - y->cpu;
}

/* The CPUs of the recording in the order of their lanes. */
static int32_t *order_cpus(const struct timechart *chart, const struct header *header, bool by_topology)
{
	struct arena arena = { 0 };
	struct feature_cpu_topology topology = { 0 };
	size_t count = chart->cpus.count;
	struct ordered_cpu *order = memory_zero(count + 1, sizeof *order);
	int32_t *cpus = memory_zero(count + 1, sizeof *cpus);
	bool known = by_topology && feature_cpu_topology(header, &arena, &topology) == 0;
	for (size_t i = 0; i < count; i++)
		order[i] = (struct ordered_cpu){ .cpu = (int32_t)i, .socket = known ? place_of(&topology.sockets, (int32_t)i) : 0,
			.core = known ? place_of(&topology.threads, (int32_t)i) : 0 };
	qsort(order, count, sizeof *order, by_place);
	for (size_t i = 0; i < count; i++)
		cpus[i] = order[i].cpu;
	free(order);
	arena_fini(&arena);
	return cpus;
}

static void describe(struct str *facts, const struct timechart *chart, const struct input *input)
{
	uint64_t lost = input->session.counters.lost_events + input->session.counters.lost_samples;
	size_t tasks = 0;
	for (size_t i = 0; i < chart->tasks.count; i++)
		tasks += chart->tasks.items[i].name != NULL;
	str_printf(facts, "%.3f s; %llu events; %zu of %zu tasks", (double)(chart->last - chart->first) / 1e9,
		(unsigned long long)input->session.counters.samples, chart->shown.count, tasks);
	if (lost)
		str_printf(facts, "; %llu events lost: what happened meanwhile is unknown", (unsigned long long)lost);
}

static int write_picture(struct cli *cli, const struct timechart_command *options, const struct timechart *chart, struct input *input,
	struct error *err)
{
	const char *path = options->output ? options->output : "output.svg";
	struct str facts CLEANUP_STR = { 0 };
	int32_t *cpus = order_cpus(chart, &input->session.source->header, options->topology);
	struct timechart_svg svg = { .chart = chart, .width = (unsigned)options->width, .no_power = options->tasks_only, .cpus = cpus,
		.skip_again = options->skip_again, .highlight_ns = options->highlight_ns, .highlight_name = options->highlight_name,
		.cpu_count = chart->cpus.count };
	struct written_file file;
	bool piped = strcmp(path, "-") == 0;
	int status = piped ? 0 : written_open(&file, path, err);
	describe(&facts, chart, input);
	svg.facts = str_text(&facts);
	if (status == 0)
		timechart_svg_write(piped ? cli->out : &file.out, &svg);
	if (status == 0 && !piped) {
		status = written_keep(&file, path, err);
		written_drop(&file);
	}
	free(cpus);
	if (status == 0 && !piped)
		cli_warn(cli, "Written %2.1f seconds of trace to %s.", (double)(chart->last - chart->first) / 1e9, path);
	return status;
}

static bool has_chains(const struct input *input)
{
	const struct evlist *evlist = session_evlist(&input->session);
	bool found = false;
	for (size_t i = 0; i < evlist->events.count; i++)
		found |= (evlist->events.items[i].attr.sample_type & SAMPLE_CALLCHAIN) != 0;
	return found;
}

static int refuse_untraced(const struct cli *cli)
{
	struct error err = { 0 };
	error_set(&err, ERROR_USAGE, "No trace sample to read. Did you call 'perf timechart record'?");
	cli_complain(cli, &err);
	return EXIT_INVALID;
}

static int draw(struct cli *cli, struct timechart_command *options, struct input *input)
{
	struct timechart chart;
	struct error err = { 0 };
	const struct header *header = &input->session.source->header;
	if (!header->pipe && !header->feature_data[FEATURE_TRACING_DATA].data)
		return refuse_untraced(cli);
	if (has_chains(input))
		input_symbols(input);
	timechart_init(&chart, &(struct timechart_options){ .chosen = options->chosen.list.items, .chosen_count = options->chosen.list.count,
		.least_tasks = options->power_only || options->tasks < 0 ? 0 : (unsigned)options->tasks, .io = options->io,
		.symbols = input->symbols, .pixels = (unsigned)options->width });
	const struct sink sink = timechart_sink(&chart);
	input_run(input, &sink);
	timechart_finish(&chart);
	int code = !chart.reader.tracepoints ? refuse_untraced(cli) : /* a pipe */
		write_picture(cli, options, &chart, input, &err) < 0 ? cli_complain(cli, &err) : 0;
	int refused = loss_summary_refused(cli, input->path, chart.reader.refused);
	int end = input_end(input, false, false);
	timechart_fini(&chart);
	return code ? code : end ? end : refused;
}

static int timechart_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	struct timechart_command *options = filled;
	struct input input = { 0 };
	struct error err = { 0 };
	int code = EXIT_FAILED;
	if (options->power_only && options->tasks_only)
		return refuse_both(cli);
	if (argc && strlen(argv[0]) > 2 && strncmp("record", argv[0], strlen(argv[0])) == 0)
		return command_run_filled(cli, &timechart_record, options, argc - 1, argv + 1);
	if (argc)
		return cli_usage(cli, &command_timechart, NULL);
	if (options->width < TIMECHART_SVG_WIDTH_MIN || options->width > TIMECHART_SVG_WIDTH_MAX) {
		error_set(&err, ERROR_USAGE, "--width takes %d to %d pixels", TIMECHART_SVG_WIDTH_MIN, TIMECHART_SVG_WIDTH_MAX);
		return cli_usage(cli, &command_timechart, &err);
	}
	const struct input_use use = { .keep_exited = true, .threads = 1, .no_jit = true };
	if (input_open(&input, cli, &options->input, &use, &err) < 0)
		cli_complain(cli, &err);
	else
		code = draw(cli, options, &input);
	input_close(&input);
	return code;
}

static void timechart_release(void *filled)
{
	struct timechart_command *options = filled;
	vec_fini(&options->chosen.list);
}

static const char *const timechart_usage[] = { "perf timechart [<options>] {record}", NULL };
static const char *const timechart_words[] = { "record", NULL };

const struct command command_timechart = {
	.name = "timechart",
	.summary = "draw who ran when, waited or was blocked, as a picture",
	.usage = timechart_usage,
	.options = timechart_table,
	.options_size = sizeof(struct timechart_command),
	.options_mode = OPTIONS_STOP_AT_NON_OPTION,
	.defaults = timechart_defaults,
	.run = timechart_run,
	.release = timechart_release,
	.subcommands = timechart_words,
};
