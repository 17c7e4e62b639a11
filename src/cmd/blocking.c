/* `blocking`: what a program pays for waiting, and what it would save if it never blocked. */
#include <stdlib.h>
#include <string.h>

#include "analysis/blocking/blocking.h"
#include "analysis/ipc/ipc_sink.h"
#include "base/hash.h"
#include "cmd/format_option.h"
#include "cmd/input.h"
#include "cmd/off_cpu_run.h"
#include "os/cpus.h"
#include "os/permission.h"
#include "os/process.h"
#include "render/format/aligned.h"

extern const struct command command_blocking;

enum { WINDOW_NS = 5000, SAMPLED_CPUS_MAX = 32, WIDTH = 8, ENTRIES = 20 };

struct blocking_command {
	struct input_options input;
	struct off_cpu_request request;
	struct off_cpu_recording recording;
	struct str clocks;
	const struct format *format;
	uint64_t window_ns;
	const char *counters;
	unsigned entries;
	bool switches_known;
	int32_t parent;
};

#define O struct blocking_command
static const struct option blocking_table[] = {
	OFF_CPU_TARGET_OPTIONS(O, request),
	INPUT_OPTIONS(O, input, "analyse instead of measuring", "dir", ""),
	OPT_STRING('o', "output", O, request.output, "file", "keep the recording in this file"),
	OPT_STRING('F', "freq", O, request.frequency, "hertz", "samples per second and CPU (1999)"),
	OPT_U64(0, "window", O, window_ns, "ns of user work after a switch that can be lost at most (5000)"),
	OPT_UINT('E', "entries", O, entries, "show so many threads, functions and events (20; 0: all)"),
	OPT_STRING(0, "counters", O, counters, "cycles,instructions", "sampled events that show the instructions per cycle (cycles,instructions)"),
	OPT_FORMAT(O, format),
	OPT_END(),
};
#undef O

static const char *const blocking_usage[] = { "perf blocking [<options>] [<command>]", "perf blocking -i <file> [<options>]", NULL };

static void blocking_defaults(void *target, __attribute__((unused)) const struct cli *cli)
{
	struct blocking_command *options = target;
	input_defaults(&options->input);
	options->request.frequency = "1999";
	options->window_ns = WINDOW_NS;
	options->entries = ENTRIES;
}

static void print_text(const struct blocking_result *result, size_t entries, struct writer *out)
{
	for (size_t i = 0; i < BLOCKING_TABLES; i++) {
		size_t count = result->tables[i].row_count(result->tables[i].context, TABLE_TOP);
		size_t most = i == BLOCKING_PARTS || !entries ? SIZE_MAX : entries;
		struct table_first first;
		struct table shown = table_first(&first, &result->tables[i], most);
		if (!count)
			continue;
		aligned_print(&shown, out);
		if (count > most)
			writer_printf(out, "# %zu more rows: -E\n", count - most);
		writer_putc(out, '\n');
	}
	writer_printf(out, "Without blocking, at least %.1f %% and at most %.1f %% of the CPU time would be saved (", 100 * result->saved_low,
		100 * result->saved_high);
	if (result->samples)
		writer_printf(out, "%llu samples", (unsigned long long)result->samples);
	else
		writer_puts(out, "of the trace");
	writer_printf(out, "); at least %.1f %% if the system calls that wait or wake are not needed, either.\n", 100 * result->calls_low);
}

static void print(struct cli *cli, const struct blocking_command *options, const struct blocking_result *result)
{
	const struct results results = { .schema = "perfuse.blocking", .version = 1, .tables = result->tables, .table_count = BLOCKING_TABLES };
	if (format_is_table(options->format))
		options->format->print(&results, cli->out);
	else
		print_text(result, options->entries, cli->out);
}

/* The switches of all threads of the processes "PID,PID…" so far. */
struct switch_count {
	uint64_t switches, threads; /* threads: a hash of their ids */
};

static bool count_switches(const char *pids, struct switch_count *count)
{
	bool known = true;
	*count = (struct switch_count){ 0 };
	for (const char *at = pids; at && known; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		struct process_ids threads = { 0 };
		struct process_status status;
		pid_t pid = (pid_t)strtol(at, NULL, 10);
		known = process_threads(pid, &threads, NULL) >= 0;
		for (size_t i = 0; known && i < threads.list.count; i++) {
			known = process_status(pid, threads.list.items[i], &status);
			count->switches += status.switches;
			count->threads = hash_pair(count->threads, (uint64_t)threads.list.items[i]);
		}
		vec_fini(&threads.list);
	}
	return known;
}

/* Events of a thread are scheduled with it: they make each switch up to 1 us slower. Events of CPUs do not, but sample idle CPUs, too. */
static bool can_measure_cpus(void)
{
	struct permission permission;
	permission_read(&permission);
	return (permission.perfmon || permission.paranoid <= 0) && cpus_online_count() <= SAMPLED_CPUS_MAX;
}

/* The phases at which one clock samples a program that repeats with a fraction of its period hardly change. So the samples are shared among
 * clocks whose periods differ. Only of CPUs, as clocks of a thread would make its switches slower. */
static void spread_clocks(struct blocking_command *options)
{
	enum { CLOCKS = 16, EVENTS_MAX = 256, NS_PER_S = 1000000000 };
	static const double least = 0.85, spread = 0.3, golden = 0.6180339887498949;
	const struct off_cpu_request *request = &options->request;
	char *end;
	unsigned long hertz = strtoul(request->frequency, &end, 10);
	bool of_cpus = request->around_command || (!request->pids && !request->tids && !request->command_words);
	unsigned cpus = (unsigned)cpus_online_count(), clocks = EVENTS_MAX / (cpus ? cpus : 1) < CLOCKS ? EVENTS_MAX / cpus : CLOCKS;
	if (*end || hertz < CLOCKS || hertz > NS_PER_S / CLOCKS || !of_cpus || clocks < 2)
		return;
	for (unsigned i = 1; i <= clocks; i++) {
		double place = i * golden - (unsigned)(i * golden), period = clocks * (double)NS_PER_S / (double)hertz * (least + spread * place);
		str_printf(&options->clocks, "%scpu-clock/period=%llu/", i > 1 ? "," : "", (unsigned long long)period);
	}
	options->request.event = str_text(&options->clocks);
}

/* Of processes, the switches are known if their threads are the same before and afterwards. Returns the exit code. */
static int measure(struct cli *cli, struct blocking_command *options)
{
	const char *pids = options->request.tids || options->request.all_cpus ? NULL : options->request.pids;
	struct switch_count before, after;
	bool known = pids && count_switches(pids, &before);
	options->request.around_command = options->request.command_words > 0 && !options->request.output && can_measure_cpus();
	spread_clocks(options);
	int code = off_cpu_run(cli, &options->request, &options->recording);
	options->input.path = options->recording.path;
	options->parent = options->request.around_command ? options->recording.recorder : 0;
	options->switches_known = options->request.command_words > 0;
	if (known && count_switches(pids, &after) && before.threads == after.threads) {
		options->switches_known = true;
		options->recording.switches = after.switches - before.switches;
	}
	return code;
}

/* Two sinks over one session. */
struct sinks {
	struct sink samples, trace;
};

static void take_record(void *context, const struct resolved *r, size_t slice)
{
	struct sinks *sinks = context;
	sinks->samples.record(sinks->samples.context, r, slice);
	sinks->trace.record(sinks->trace.context, r, slice);
}

static void read_recording(struct input *input, struct blocking *blocking, struct ipc_tracks *tracks)
{
	const struct ipc_options how = { .symbols = input->symbols, .tracepoints = &input->tracepoints, .by_thread = true,
		.syscalls = syscalls_of_machine(header_string(&input->session.source->header, FEATURE_ARCH)) };
	struct ipc_sink *ipc = ipc_sink_new(&how, tracks);
	struct sinks sinks = { blocking_sink(blocking), ipc_sink_of(ipc) };
	const struct sink both = { .context = &sinks, .record = take_record, .serial = true, .want_records = true };
	input_run(input, &both);
	const struct ipc_facts facts = ipc_sink_finish(ipc);
	if (!facts.traced || !facts.has_cycles || facts.timeless)
		ipc_tracks_fini(tracks);
	ipc_sink_free(ipc);
}

static void set_nothing(const struct blocking_command *options, const char *path, struct error *err)
{
	if (options->input.path == options->recording.path) {
		error_set(err, ERROR_USAGE, "nothing was sampled: what was measured used too little CPU time");
		error_hint(err, "-F takes more samples per second");
		return;
	}
	error_set(err, ERROR_USAGE, "%s has no sample of cpu-clock or task-clock, and no trace with cycles", path);
	error_hint(err, "'perf record -e cpu-clock -g' records samples, 'perf record --switch-events -e intel_pt/cyc,noretcomp/' a trace");
}

static int analyse(struct cli *cli, const struct blocking_command *options, const struct ipc_roles *counters, struct error *err)
{
	struct input input;
	struct itrace itrace;
	struct ipc_tracks tracks = { 0 };
	int code = EXIT_FAILED;
	if (itrace_parse(&itrace, "bpe", true, err) < 0 || input_open(&input, cli, &options->input,
			&(struct input_use){ .keep_exited = true, .threads = 1, .no_progress = true, .itrace = &itrace }, err) < 0) {
		input_close(&input);
		return EXIT_FAILED;
	}
	input_name_events(&input);
	input_symbols(&input);
	input_tracepoints(&input);
	struct blocking *blocking = blocking_new(&(struct blocking_options){ .symbols = input.symbols, .window_ns = options->window_ns,
		.switches_known = options->switches_known, .switches = options->recording.switches, .parent = options->parent, .tracks = &tracks,
		.width = WIDTH, .counters = *counters });
	read_recording(&input, blocking, &tracks);
	const struct blocking_result *result = blocking_finish(blocking);
	if (result->cpu_ns) {
		print(cli, options, result);
		code = 0;
	} else {
		set_nothing(options, input.path, err);
	}
	int end = input_end(&input, false, true);
	blocking_free(blocking);
	ipc_tracks_fini(&tracks);
	input_close(&input);
	return code ? code : end;
}

static int blocking_run(struct cli *cli, void *filled, int argc, const char **argv)
{
	struct blocking_command *options = filled;
	struct error err = { 0 };
	bool measures = !options->input.path;
	CLEANUP_STR struct str text = { 0 };
	struct ipc_roles counters;
	int code = 0;
	if (ipc_roles_parse(&counters, options->counters, &text, &err) < 0)
		return cli_usage(cli, &command_blocking, &err);
	if (argc && !measures) {
		error_set(&err, ERROR_USAGE, "-i reads a recording: a command cannot be measured with it");
		return cli_usage(cli, &command_blocking, &err);
	}
	if (measures) {
		options->request.command = argv;
		options->request.command_words = argc;
		options->request.event = "cpu-clock";
		code = measure(cli, options);
	}
	if (!code)
		code = analyse(cli, options, &counters, &err);
	if (err.kind != ERROR_NONE)
		cli_complain(cli, &err);
	if (measures)
		off_cpu_remove(&options->recording);
	str_fini(&options->clocks);
	return code;
}

const struct command command_blocking = {
	.name = "blocking",
	.summary = "show what a program pays for waiting, and what it would save without",
	.usage = blocking_usage,
	.options = blocking_table,
	.options_size = sizeof(struct blocking_command),
	.defaults = blocking_defaults,
	.options_mode = OPTIONS_STOP_AT_NON_OPTION,
	.run = blocking_run,
};
