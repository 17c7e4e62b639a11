/* `internals`: what the parts of this program cost that each measurement needs: events, PMUs, the kernel's symbols, records about
 * processes. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/stat/stat_table.h"
#include "cmd/bench/bench.h"
#include "cmd/event_files.h"
#include "image/file.h"
#include "record/acquire/measurement.h"
#include "record/acquire/records.h"
#include "record/acquire/synthesize.h"
#include "symbol/kallsyms.h"

enum { CLONES_MAX = 4096, KALLSYMS_BYTES_MAX = 512 << 20, FREQUENCY = 4000 };

static void print_mean(const struct cli *cli, const char *what, const struct stat_spread *us)
{
	writer_printf(cli->out, "  Average %s took: %.3f usec (+- %.3f usec)\n", what, us->mean, stat_spread_error(us));
}

static uint64_t times_of(const struct bench_options *options, uint64_t usual)
{
	return options->iterations ? options->iterations : usual;
}

static int kallsyms_run(struct cli *cli, void *filled, __attribute__((unused)) int argc, __attribute__((unused)) const char **argv)
{
	enum { USUAL = 1 };
	uint64_t times = times_of(filled, USUAL);
	struct stat_spread ms = { 0 };
	struct error err;
	for (uint64_t i = 0; i < times; i++) {
		struct kallsyms list = { 0 };
		char *text;
		size_t len;
		uint64_t begin = now_ns();
		if (rooted_read(-1, "/proc/kallsyms", KALLSYMS_BYTES_MAX, &text, &len, &err) < 0)
			return cli_complain(cli, &err);
		kallsyms_parse(&list, memory_resize(text, len + 1, 1), len);
		stat_spread_add(&ms, (double)(now_ns() - begin) / 1e6);
		kallsyms_fini(&list);
	}
	writer_printf(cli->out, "  Average kallsyms__parse took: %.3f ms (+- %.3f ms)\n", ms.mean, stat_spread_error(&ms));
	return 0;
}

static int pmu_scan_run(struct cli *cli, void *filled, __attribute__((unused)) int argc, __attribute__((unused)) const char **argv)
{
	enum { USUAL = 100 };
	uint64_t times = times_of(filled, USUAL);
	struct stat_spread core_us = { 0 }, all_us = { 0 };
	/* as in perf, its results are messages */
	cli_warn(cli, "Computing performance of sysfs PMU event scan for %llu times", (unsigned long long)times);
	for (uint64_t i = 0; i < times; i++) {
		struct pmus pmus = { 0 };
		uint64_t begin = now_ns();
		pmus_core_count(&pmus);
		stat_spread_add(&core_us, (double)(now_ns() - begin) / 1e3);
		for (size_t k = 0; k < pmus.list.count; k++) {
			pmu_load(&pmus, pmus.list.items[k]);
			pmu_load_events(&pmus, pmus.list.items[k]);
		}
		stat_spread_add(&all_us, (double)(now_ns() - begin) / 1e3);
		pmus_fini(&pmus);
	}
	cli_warn(cli, "  Average core PMU scanning took: %.3f usec (+- %.3f usec)", core_us.mean, stat_spread_error(&core_us));
	cli_warn(cli, "  Average PMU scanning took: %.3f usec (+- %.3f usec)", all_us.mean, stat_spread_error(&all_us));
	return 0;
}

static void measure_synthesis(const struct cli *cli, const char *what, bool data_maps, uint64_t times)
{
	struct stat_spread us = { 0 }, events = { 0 };
	struct writer out;
	writer_open(&out, -1, 0);
	for (uint64_t i = 0; i < times; i++) {
		struct synthesis synthesis = { .out = &out, .data_maps = data_maps };
		struct record record;
		double count = 0;
		out.len = 0;
		uint64_t begin = now_ns();
		synthesize_process(&synthesis, getpid(), false, NULL);
		stat_spread_add(&us, (double)(now_ns() - begin) / 1e3);
		for (struct span records = { (const uint8_t *)out.buffer, out.len }; records_next(&records, &record);)
			count++;
		stat_spread_add(&events, count);
	}
	print_mean(cli, what, &us);
	writer_printf(cli->out, "  Average num. events: %.3f (+- %.3f)\n  Average time per event %.3f usec\n", events.mean,
		stat_spread_error(&events), events.mean > 0 ? us.mean / events.mean : 0);
	writer_fini(&out);
}

static int synthesize_run(struct cli *cli, void *filled, __attribute__((unused)) int argc, __attribute__((unused)) const char **argv)
{
	enum { USUAL = 10000 };
	uint64_t times = times_of(filled, USUAL);
	writer_puts(cli->out, "Computing performance of single threaded perf event synthesis by\n"
		"synthesizing events on the perf process itself:\n");
	measure_synthesis(cli, "synthesis", false, times);
	measure_synthesis(cli, "data synthesis", true, times);
	return 0;
}

/* The events n times. */
static int parse_clones(struct cli *cli, const struct bench_options *options, struct events *events)
{
	CLEANUP_STR struct str text = { 0 };
	struct event_error why;
	struct writer out;
	for (unsigned i = 0; i < options->clones; i++)
		str_printf(&text, "%s%s", i ? "," : "", options->events ? options->events : "dummy");
	event_files_set(cli, &events->pmus);
	if (events_parse(events, str_text(&text), &why) == 0)
		return 0;
	writer_open(&out, -1, 0);
	event_error_print(&why, &out);
	cli_warn(cli, "%.*s", (int)out.len - 1, out.buffer);
	writer_fini(&out);
	return -1;
}

/* Without the events that only provide side-band, as perf counts. */
static size_t opened_count(const struct measurement *measurement)
{
	size_t count = 0;
	for (size_t i = 0; i < measurement->counters.list.count; i++)
		count += !measurement->events->list.items[measurement->counters.list.items[i].event].follower;
	return count;
}

/* Opens, maps, enables and closes the events once; the first time, prints how many there are. */
static int open_once(struct cli *cli, const struct bench_options *options, struct stat_spread *us, struct error *err)
{
	struct events events = { 0 };
	struct measurement measurement;
	const struct measurement_options how = {
		.sampling = { .freq = FREQUENCY, .no_buffering = true }, .events = &events,
		.target = { .pids = options->pids, .tids = options->tids, .uid = options->uid, .cpus = options->cpus, .per_thread = options->per_thread,
			.all_cpus = options->all_cpus || (!options->pids && !options->tids && !options->uid && !options->cpus) },
	};
	if (parse_clones(cli, options, &events) < 0) {
		events_fini(&events);
		return EXIT_FAILED;
	}
	size_t count = events.list.count;
	uint64_t begin = now_ns();
	int status = measurement_open(&measurement, &how, err);
	if (status == 0)
		status = measurement_map(&measurement, 0, false, err);
	if (status == 0)
		status = measurement_start(&measurement, err);
	if (status == 0 && !us)
		writer_printf(cli->out, "  Number of cpus:\t%zu\n  Number of threads:\t%zu\n  Number of events:\t%zu (%zu fds)\n",
			measurement.target.cpus.list.count, measurement.target.threads.count, count, opened_count(&measurement));
	measurement_close(&measurement);
	if (status == 0 && us)
		stat_spread_add(us, (double)(now_ns() - begin) / 1e3);
	events_fini(&events);
	return status < 0 ? cli_complain(cli, err), EXIT_FAILED : 0;
}

static int evlist_run(struct cli *cli, void *filled, __attribute__((unused)) int argc, __attribute__((unused)) const char **argv)
{
	enum { USUAL = 100 };
	const struct bench_options *options = filled;
	uint64_t times = times_of(filled, USUAL);
	struct stat_spread us = { 0 };
	struct error err = { 0 };
	if (!options->clones || options->clones > CLONES_MAX) {
		error_set(&err, ERROR_USAGE, "-n takes 1 to %d events", CLONES_MAX);
		return cli_usage(cli, &command_bench_internals, &err);
	}
	int status = open_once(cli, options, NULL, &err);
	if (status == 0)
		writer_printf(cli->out, "  Number of iterations:\t%llu\n", (unsigned long long)times);
	for (uint64_t i = 0; i < times && status == 0; i++)
		status = open_once(cli, options, &us, &err);
	if (status == 0)
		print_mean(cli, "open-close", &us);
	return status;
}

static const struct option times_table[] = {
	OPT_U64('i', "iterations", struct bench_options, iterations, "how often it is measured (default: 100; 1 of kallsyms-parse)"),
	OPT_END(),
};
static const struct option synthesize_table[] = {
	OPT_BOOL('s', "st", struct bench_options, single, "by one thread, as always"),
	OPT_U64('i', "single-iterations", struct bench_options, iterations, "how often it is measured (default: 10000)"),
	OPT_END(),
};
static const struct option evlist_table[] = {
	OPT_STRING('e', "event", struct bench_options, events, "event", "the events (default: dummy)"),
	OPT_U64('i', "iterations", struct bench_options, iterations, "how often it is measured (default: 100)"),
	OPT_UINT('n', "nr-events", struct bench_options, clones, "how often the events are opened at a time (default: 1)"),
	OPT_BOOL('a', "all-cpus", struct bench_options, all_cpus, "on all CPUs (the default)"),
	OPT_STRING('C', "cpu", struct bench_options, cpus, "cpu", "on these CPUs: 0-3,7"),
	OPT_STRING('p', "pid", struct bench_options, pids, "pid", "for running processes"),
	OPT_STRING('t', "tid", struct bench_options, tids, "tid", "for running threads"),
	OPT_STRING('u', "uid", struct bench_options, uid, "user", "for the processes of a user"),
	OPT_BOOL(0, "per-thread", struct bench_options, per_thread, "a ring for each thread instead of each CPU"),
	OPT_END(),
};
static const struct option inject_table[] = {
	OPT_U64('i', "iterations", struct bench_options, iterations, "how often it is measured (default: 100)"),
	OPT_UINT('m', "nr-mmaps", struct bench_options, mappings, "mappings of the recording (default: 100)"),
	OPT_UINT('n', "nr-samples", struct bench_options, samples, "samples of each mapping (default: 100)"),
	OPT_INCR('v', "verbose", struct bench_options, verbose, "name each iteration"),
	OPT_END(),
};
static const char *const internals_usage[] = {
	"perf bench internals {synthesize|kallsyms-parse|inject-build-id|evlist-open-close|pmu-scan|all} [<options>]", NULL
};

#define INTERNAL(word, function, table, text) { .name = (word), .summary = (text), .usage = internals_usage, .options = (table), \
	.options_size = sizeof(struct bench_options), .run = (function) }
static const struct command benchmarks[] = {
	INTERNAL("synthesize", synthesize_run, synthesize_table, "records about a running process"),
	INTERNAL("kallsyms-parse", kallsyms_run, times_table, "reading the kernel's list of symbols"),
	INTERNAL("inject-build-id", bench_inject_run, inject_table, "adding build-ids to a recording"),
	INTERNAL("evlist-open-close", evlist_run, evlist_table, "opening and closing events with their rings"),
	INTERNAL("pmu-scan", pmu_scan_run, times_table, "reading all PMUs and their events"),
};
static const struct command *const list[] = { &benchmarks[0], &benchmarks[1], &benchmarks[2], &benchmarks[3], &benchmarks[4], NULL };
static const char *const words[] = { "synthesize", "kallsyms-parse", "inject-build-id", "evlist-open-close", "pmu-scan", "all", NULL };
static const struct option no_options[] = { OPT_END() };

static int collection_run(struct cli *cli, void *options, int argc, const char **argv)
{
	return bench_collection_run(cli, "internals", list, options, argc, argv);
}

const struct command command_bench_internals = {
	.name = "internals", .summary = "parts of this program", .usage = internals_usage, .options = no_options,
	.options_size = sizeof(struct bench_options), .options_mode = OPTIONS_STOP_AT_NON_OPTION, .run = collection_run, .subcommands = words,
};
