/* `sched stats`: the scheduler's own counters between two moments, now or of a recording, and those of two recordings. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/sched/schedstats.h"
#include "cmd/sched/sched.h"
#include "cmd/sched/stats_record.h"
#include "data/source.h"
#include "record/acquire/signals.h"
#include "record/acquire/workload.h"
#include "render/format/format.h"
#include "render/sched/schedstat_text.h"

enum { RECORDINGS_MAX = 2 };

struct stats_run {
	struct cli *cli;
	const struct sched_options *options;
	struct cpus cpus;                      /* -C; empty: all */
	struct schedstats stats[RECORDINGS_MAX];
	size_t count;                          /* of stats */
	struct source *sources[RECORDINGS_MAX];
	struct schedstat moments[2];
	struct arena arena;
};

static void fini(struct stats_run *run)
{
	for (size_t i = 0; i < RECORDINGS_MAX; i++) {
		schedstats_fini(&run->stats[i]);
		source_close(run->sources[i]);
		schedstat_fini(&run->moments[i]);
	}
	cpus_fini(&run->cpus);
	arena_fini(&run->arena);
}

/* The command, or until a signal asks for the end. */
static int wait_for_end(struct signals *signals, struct workload *workload, struct error *err)
{
	struct pollfd fd = { .fd = signals->fd, .events = POLLIN };
	if (workload->pid && workload_run(workload, err) < 0)
		return -1;
	while (!signals->ended_by && !(workload->pid && workload_ended(workload))) {
		if (poll(&fd, 1, -1) < 0 && errno != EINTR)
			return error_system(err, "cannot wait");
		signals_read(signals);
	}
	return 0;
}

/* Reads both moments. */
static int measure(struct stats_run *run, int argc, const char **argv, struct error *err)
{
	struct signals signals = { .fd = -1 };
	struct workload workload = { 0 };
	bool was_off = false;
	writer_flush(run->cli->out, NULL);
	int status = signals_open(&signals, false, err);
	if (status == 0)
		status = schedstat_enable(&was_off, err);
	if (status == 0 && argc)
		status = workload_start(&workload, argv, false, &signals, err);
	if (status == 0)
		status = schedstat_read(&run->moments[0], SCHEDSTAT_PATH, err);
	if (status == 0)
		status = wait_for_end(&signals, &workload, err);
	if (status == 0)
		status = schedstat_read(&run->moments[1], SCHEDSTAT_PATH, err);
	if (was_off)
		schedstat_disable();
	if (workload.pid) {
		workload_stop(&workload);
		workload_wait(&workload, &signals);
	}
	signals_close(&signals);
	return status;
}

static int read_recording(struct stats_run *run, const char *path, struct error *err)
{
	const struct source_options options = { .force = run->options->input.force, .event_memory = source_event_memory(run->cli->budget) };
	struct schedstats *stats = &run->stats[run->count];
	struct schedstat_row row;
	struct record record;
	int more;
	if (source_open(&run->sources[run->count], path, &options, err) < 0)
		return -1;
	struct source *source = run->sources[run->count++];
	while ((more = source_next(source, &record, err)) > 0) {
		bool wanted = schedstat_decode(&row, &record) && (!run->cpus.list.count || cpus_has(&run->cpus, (int32_t)row.cpu));
		if (wanted)
			schedstats_add(stats, &row);
	}
	feature_domains(&source->header, &run->arena, &stats->domains);
	if (more == 0 && !stats->moments.count) {
		error_set(err, ERROR_USAGE, "%s has no counters of the scheduler", path);
		return error_hint(err, "'perf sched stats record' records them");
	}
	return more < 0 ? more : schedstats_finish(stats, err);
}

/* The names of the domains as a recording has them. */
static void take_domains(struct stats_run *run, const struct schedstat *stat)
{
	struct feature_domain *domains = arena_alloc(&run->arena, (stat->lines.count + 1) * sizeof *domains);
	uint32_t count = 0;
	for (size_t i = 0; i < stat->lines.count; i++) {
		const struct schedstat_line *line = &stat->lines.items[i];
		CLEANUP_STR struct str list = { 0 };
		if (!line->mask)
			continue;
		schedstat_cpus(line->mask, &list);
		domains[count++] = (struct feature_domain){ line->row.cpu, (uint32_t)line->row.domain, line->name ? line->name : "", line->mask,
			arena_string(&run->arena, str_text(&list), list.len) };
	}
	run->stats[0].domains = (struct feature_domains){ stat->version, count, domains };
}

static int take_moments(struct stats_run *run, struct error *err)
{
	run->count = 1;
	for (int m = 0; m < 2; m++)
		for (size_t i = 0; i < run->moments[m].lines.count; i++) {
			const struct schedstat_row *row = &run->moments[m].lines.items[i].row;
			if (!run->cpus.list.count || cpus_has(&run->cpus, (int32_t)row->cpu))
				schedstats_add(&run->stats[0], row);
		}
	take_domains(run, &run->moments[0]);
	return schedstats_finish(&run->stats[0], err);
}

enum { COLUMN_CPU, COLUMN_DOMAIN, COLUMN_NAME, COLUMN_CPUS, COLUMN_COUNTER, COLUMN_COUNT, COLUMN_SECOND, COLUMNS };

static void add_cells(struct stats_run *run, struct sched_rows *rows, const struct schedstat_row *row, const struct schedstat_row *second)
{
	struct schedstat_report_line lines[SCHEDSTAT_LINES_MAX];
	const struct feature_domain *domain = schedstats_domain(&run->stats[0], row);
	bool of_cpu = row->domain == SCHEDSTAT_NO_DOMAIN, all = row->cpu == SCHEDSTATS_ALL;
	size_t count = schedstat_report_lines(row->version, !of_cpu, lines);
	for (size_t i = 0; i < count; i++) {
		if (lines[i].kind == SCHEDSTAT_PULLED)
			continue; /* a quotient of two others */
		const struct cell cells[COLUMNS] = {
			[COLUMN_CPU] = all ? cell_absent() : cell_number(row->cpu),
			[COLUMN_DOMAIN] = of_cpu ? cell_absent() : cell_number(row->domain),
			[COLUMN_NAME] = domain && *domain->name ? cell_text(domain->name) : cell_absent(),
			[COLUMN_CPUS] = domain && !all ? cell_text(domain->cpus) : cell_absent(),
			[COLUMN_COUNTER] = cell_text(lines[i].name),
			[COLUMN_COUNT] = cell_count((uint64_t)schedstat_value(row, &lines[i])),
			[COLUMN_SECOND] = second ? cell_count((uint64_t)schedstat_value(second, &lines[i])) : cell_absent(),
		};
		sched_rows_add(rows, cells);
	}
}

static void print_rows(struct stats_run *run)
{
	static const struct table_column columns[COLUMNS] = {
		[COLUMN_CPU] = { "cpu", "CPU", NULL, CELL_NUMBER }, [COLUMN_DOMAIN] = { "domain", "Domain", NULL, CELL_NUMBER },
		[COLUMN_NAME] = { "name", "Name", NULL, CELL_TEXT }, [COLUMN_CPUS] = { "cpus", "CPUs", NULL, CELL_TEXT },
		[COLUMN_COUNTER] = { "counter", "Counter", NULL, CELL_TEXT }, [COLUMN_COUNT] = { "count", "Count", NULL, CELL_COUNT },
		[COLUMN_SECOND] = { "second_count", "Second count", NULL, CELL_COUNT },
	};
	const struct schedstats *first = &run->stats[0], *second = run->count > 1 ? &run->stats[1] : NULL;
	const struct table_fact facts[] = { { "schedstat_version", cell_count(first->version) }, { "jiffies", cell_count(first->jiffies) },
		{ "second_jiffies", cell_count(second ? second->jiffies : 0) } };
	struct sched_rows rows;
	sched_rows_init(&rows, run->options->format, run->cli->out, "perfuse.sched.stats", "counters", columns,
		second ? COLUMNS : COLUMN_SECOND);
	rows.results.facts = facts;
	rows.results.fact_count = second ? 3 : 2;
	for (size_t i = 0; i < first->rows.count; i++) {
		const struct schedstat_row *row = &first->rows.items[i];
		const struct schedstat_row *other = second && row->cpu == SCHEDSTATS_ALL ? schedstats_average(second, row->domain) : NULL;
		if (!second || other)
			add_cells(run, &rows, row, other);
	}
	sched_rows_end(&rows);
}

static void show(struct stats_run *run)
{
	const struct sched_options *options = run->options;
	cli_pager(run->cli, &sched_stats);
	if (format_is_table(options->format))
		print_rows(run);
	else if (run->count > 1)
		schedstats_print_diff(&run->stats[0], &run->stats[1], options->input.verbose > 0, run->cli->out);
	else
		schedstats_print(&run->stats[0], options->input.verbose > 0, run->cli->out);
}

static int run_live(struct stats_run *run, int argc, const char **argv, struct error *err)
{
	return measure(run, argc, argv, err) < 0 || take_moments(run, err) < 0 ? -1 : (show(run), 0);
}

static int run_record(struct stats_run *run, int argc, const char **argv, struct error *err)
{
	const char *path = run->options->output ? run->options->output : "perf.data";
	if (measure(run, argc, argv, err) < 0 || stats_record_write(path, run->moments, &run->cpus, run->cli->program, err) < 0)
		return -1;
	cli_warn(run->cli, "[ perf sched stats: Wrote samples to %s ]", path);
	return 0;
}

static int run_report(struct stats_run *run, __attribute__((unused)) int argc, __attribute__((unused)) const char **argv,
	struct error *err)
{
	return read_recording(run, run->options->input.path ? run->options->input.path : "perf.data", err) < 0 ? -1 : (show(run), 0);
}

static int run_diff(struct stats_run *run, int argc, const char **argv, struct error *err)
{
	const char *paths[RECORDINGS_MAX] = { "perf.data.old", "perf.data" };
	for (int i = 0; i < RECORDINGS_MAX; i++) {
		const char *path = argc > 1 ? argv[i] : argc && i == 1 ? argv[0] : paths[i];
		if (read_recording(run, path, err) < 0)
			return -1;
	}
	if (run->stats[0].version != run->stats[1].version)
		return error_set(err, ERROR_USAGE, "the recordings have counters of the versions %u and %u", run->stats[0].version,
			run->stats[1].version);
	show(run);
	return 0;
}

static int run_part(struct cli *cli, const struct sched_options *options, int argc, const char **argv,
	int (*part)(struct stats_run *run, int argc, const char **argv, struct error *err))
{
	struct stats_run run = { .cli = cli, .options = options };
	struct error err = { 0 };
	int status = options->shown_cpus ? cpus_parse(&run.cpus, options->shown_cpus, &err) : 0;
	if (status == 0)
		status = part(&run, argc, argv, &err);
	fini(&run);
	return status < 0 ? cli_complain(cli, &err), EXIT_FAILED : 0;
}

static int record_run(struct cli *cli, void *options, int argc, const char **argv)
{
	return run_part(cli, options, argc, argv, run_record);
}

static int report_run(struct cli *cli, void *options, int argc, const char **argv)
{
	return run_part(cli, options, argc, argv, run_report);
}

static int diff_run(struct cli *cli, void *options, int argc, const char **argv)
{
	return run_part(cli, options, argc, argv, run_diff);
}

static const struct option stats_table[] = {
	OPT_STRING('C', "cpu", struct sched_options, shown_cpus, "cpus", "only the counters of these CPUs"),
	OPT_STRING('o', "output", struct sched_options, output, "file", "record: the file to write (perf.data)"),
	OPT_FORMAT(struct sched_options, format),
	SCHED_OPTIONS,
	OPT_END(),
};

static const char *const stats_usage[] = { "perf sched stats [<options>] [<command>]", "perf sched stats record [<options>] [<command>]",
	"perf sched stats report [<options>]", "perf sched stats diff [<options>] [<file> [<file>]]", NULL };

#define PART(word, function)                                                                                            \
	{ .name = (word), .usage = stats_usage, .options = stats_table, .options_size = sizeof(struct sched_options),        \
		.options_mode = OPTIONS_STOP_AT_NON_OPTION, .run = (function) }

/* Options before the word of a part are read before its own. */
static int stats_run(struct cli *cli, void *options, int argc, const char **argv)
{
	static const struct command parts[] = { PART("record", record_run), PART("report", report_run), PART("diff", diff_run) };
	for (size_t i = 0; argc && i < sizeof parts / sizeof *parts; i++)
		if (strcmp(argv[0], parts[i].name) == 0)
			return command_run_filled(cli, &parts[i], options, argc - 1, argv + 1);
	return run_part(cli, options, argc, argv, run_live);
}

const struct command sched_stats = PART("stats", stats_run);
