/* `stat report`: the counts of a recording, printed after each round. */
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/recorded_counts.h"
#include "cmd/stat/aggregates.h"
#include "cmd/stat/stat.h"
#include "cmd/stat/topology.h"

enum { HEADING_EVERY = 26 };

struct report {
	struct stat_run *run;
	const struct stat_report_options *o;
	enum stat_grain asked;           /* STAT_ALL: as recorded */
	struct recorded_counts counts;
	struct aggregates aggregates;
	struct stat_table table;
	VEC(const char *) command;
	unsigned printed;
};

static enum stat_grain recorded_grain(enum stat_aggregation aggregation)
{
	static const enum stat_grain grains[STAT_BY_COUNT] = {
		[STAT_BY_CPU] = STAT_CPU, [STAT_BY_NOTHING] = STAT_ALL, [STAT_BY_SOCKET] = STAT_SOCKET, [STAT_BY_DIE] = STAT_DIE,
		[STAT_BY_CLUSTER] = STAT_CLUSTER, [STAT_BY_CACHE] = STAT_CACHE, [STAT_BY_CORE] = STAT_CORE, [STAT_BY_THREAD] = STAT_THREAD,
		[STAT_BY_UNKNOWN] = STAT_ALL, [STAT_BY_NODE] = STAT_NODE,
	};
	return grains[aggregation];
}

static void make_aggregates(struct report *r)
{
	VEC(struct aggregate_thread) threads = { 0 };
	struct recorded_topology topology;
	bool pipe = r->counts.source->header.pipe; /* for which perf ignores the level that is asked for */
	uint32_t level = r->o->per_cache && !pipe ? (uint32_t)r->o->cache_level : r->counts.config.cache_level;
	recorded_topology_read(&topology, &r->counts.source->header);
	for (size_t i = 0; i < r->counts.threads.list.count; i++)
		vec_push(&threads, ((struct aggregate_thread){ r->counts.threads.list.items[i].tid, r->counts.threads.list.items[i].comm }));
	const struct aggregates_input input = {
		.counters = r->counts.counters.items, .count = r->counts.counters.count, .threads = threads.items, .thread_count = threads.count,
		.grain = r->run->grain, .cache_level = level > STAT_CACHE_LEVEL_MAX ? 0 : (int)level, .context = &topology,
		.place = pipe ? unrecorded_place : recorded_place,
	};
	aggregates_make(&r->aggregates, &input);
	recorded_topology_fini(&topology);
	vec_fini(&threads);
}

static void configure(struct report *r)
{
	struct stat_run *run = r->run;
	run->grain = r->asked != STAT_ALL ? r->asked : recorded_grain(r->counts.config.aggregation);
	make_aggregates(r);
	stat_style_set(run);
	run->style.labels = r->aggregates.labels.items;
	run->style.tids = r->aggregates.tids.items;
	run->style.hide_zero = false;
	r->table.strict = run->grain != STAT_ALL && run->grain != STAT_THREAD;
	r->table.cumulative = true;
}

static void print(struct report *r, uint64_t time_ns)
{
	struct stat_run *run = r->run;
	bool title = r->printed % HEADING_EVERY == 0;
	r->printed++;
	if (!r->counts.config.interval_ms) {
		CLEANUP_STR struct str prefix = { 0 };
		if (run->o->summary && !run->o->no_csv_summary)
			str_printf(&prefix, "%s%s", "summary", run->style.separator ? run->style.separator : "");
		stat_output_counts(run, &r->table, str_text(&prefix), title);
		return;
	}
	if (title)
		stat_print_heading(&r->table, &run->style, &run->out);
	stat_print(&r->table, &run->style, time_ns, "", &run->out);
}

static void take_round(struct report *r)
{
	struct stat_run *run = r->run;
	const struct recorded_counts *c = &r->counts;
	if (c->round.type == STAT_ROUND_FINAL)
		stat_spread_add(&run->elapsed_ns, (double)c->round.time_ns);
	stat_table_fill(&r->table, &run->events, c->missing.items, (uint32_t)r->aggregates.labels.count, r->aggregates.places.items,
		c->since.items, c->since.count, c->config.scale);
	stat_table_metrics(&r->table, run->elapsed_ns.mean);
	print(r, c->round.time_ns);
}

static void take_command(struct report *r)
{
	struct feature_strings words;
	if (feature_cmdline(&r->counts.source->header, &r->counts.arena, &words) < 0 || !words.count)
		return;
	for (uint32_t i = 0; i < words.count; i++)
		vec_push(&r->command, words.items[i]);
	vec_push(&r->command, NULL);
	r->run->command = r->command.items;
}

static int read_recording(struct report *r, const char *path, struct error *err)
{
	int step;
	if (recorded_counts_open(&r->counts, path, &r->run->events, r->run->cli->budget, err) < 0)
		return -1;
	take_command(r);
	while ((step = recorded_counts_next(&r->counts, err)) > 0) {
		if (step == RECORDED_CONFIGURATION)
			configure(r);
		else
			take_round(r);
	}
	return step;
}

static void report_fini(struct report *r)
{
	aggregates_fini(&r->aggregates);
	stat_table_fini(&r->table);
	vec_fini(&r->command);
	recorded_counts_fini(&r->counts);
}

static const char *const report_usage[] = { "perf stat report [<options>]", NULL };
static const struct command command_report = {
	.name = "stat report", .usage = report_usage, .options = stat_report_table, .options_size = sizeof(struct stat_report_options),
};

int stat_report(struct stat_run *run, int argc, const char **argv)
{
	struct stat_report_options options = { 0 };
	struct report report = { .run = run, .o = &options };
	struct error err = { 0 };
	struct stat st;
	int left = options_parse(stat_report_table, &options, argc, argv, 0, &err);
	if (left == OPTIONS_HELP) {
		options_help(stat_report_table, report_usage, NULL, run->cli->out);
		return EXIT_USAGE;
	}
	if (left < 0)
		return cli_usage(run->cli, &command_report, left == OPTIONS_BAD ? &err : NULL);
	bool piped = fstat(STDIN_FILENO, &st) == 0 && S_ISFIFO(st.st_mode);
	report.asked = stat_grain_of(&options);
	run->command = NULL;
	run->o->target = (struct target_options){ 0 };
	int status = stat_output_open(run, NULL);
	if (status)
		return status;
	const char *path = options.input && *options.input ? options.input : piped ? "-" : "perf.data";
	if (read_recording(&report, path, &err) < 0) {
		writer_flush(&run->out, NULL);
		cli_complain(run->cli, &err);
		status = report.counts.source ? EXIT_INVALID : EXIT_FAILED;
	} else if (writer_flush(&run->out, &err) < 0) {
		status = cli_complain(run->cli, &err);
	} else {
		status = recorded_counts_complain(&report.counts, run->cli, path);
	}
	run->command = NULL;
	stat_output_close(run);
	report_fini(&report);
	return status;
}
