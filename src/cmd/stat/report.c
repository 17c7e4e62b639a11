/* `stat report`: the counts of a recording, printed after each round. */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/stat/stat_records.h"
#include "cmd/stat/aggregates.h"
#include "cmd/stat/stat.h"
#include "cmd/stat/topology.h"
#include "data/evsel_name.h"
#include "data/source.h"

/* Counters that a recording may claim: events × CPUs × threads. */
enum { COUNTERS_MAX = 1 << 22, HEADING_EVERY = 26 };

struct report {
	struct stat_run *run;
	struct source *source;
	const struct stat_report_options *o;
	enum stat_grain asked;           /* STAT_ALL: as recorded */
	struct arena arena;
	struct stat_threads threads;
	struct cpus cpus;
	struct stat_config config;
	bool configured;
	VEC(struct cpus) event_cpus;     /* those that differ from `cpus`; empty: the same */
	VEC(size_t) first;               /* by event: index of its first counter */
	VEC(struct aggregate_counter) counters;
	VEC(struct stat_count) now, before, since;
	struct aggregates aggregates;
	struct stat_table table;
	VEC(const char *) command;
	unsigned printed;
};

static const struct cpus *cpus_of(const struct report *r, size_t event)
{
	const struct cpus *own = &r->event_cpus.items[event];
	return own->list.count ? own : &r->cpus;
}

static void add_event(struct report *r, const struct evsel *evsel)
{
	struct events *events = &r->run->events;
	struct event *event = vec_add(&events->list);
	struct cpus *own = vec_add(&r->event_cpus);
	char buffer[EVSEL_NAME_MAX];
	const char *name = evsel_name(evsel, buffer, sizeof buffer);
	*event = (struct event){
		.attr = evsel->attr, .name = arena_string(&r->arena, name, strlen(name)), .unit = evsel->unit, .scale = evsel->scale,
		.leader = evsel->leader, .members = evsel->group_members,
	};
	for (size_t i = 0; evsel->cpus && i < evsel->cpus->count; i++)
		cpus_add(own, evsel->cpus->cpus[i]);
}

static int add_counters(struct report *r, struct error *err)
{
	const struct evlist *evlist = &r->source->header.evlist;
	for (size_t i = 0; i < evlist->events.count; i++) {
		add_event(r, &evlist->events.items[i]);
		const struct cpus *cpus = cpus_of(r, i);
		vec_push(&r->first, r->counters.count);
		if (cpus->list.count * r->threads.list.count > COUNTERS_MAX - r->counters.count)
			return error_set(err, ERROR_FORMAT, "the recording claims more than %d counters", COUNTERS_MAX);
		for (size_t k = 0; k < cpus->list.count; k++)
			for (uint32_t t = 0; t < r->threads.list.count; t++)
				vec_push(&r->counters, ((struct aggregate_counter){ (uint32_t)i, cpus->list.items[k], t }));
	}
	for (size_t i = 0; i < r->counters.count; i++) {
		vec_push(&r->now, (struct stat_count){ 0 });
		vec_push(&r->before, (struct stat_count){ 0 });
		vec_push(&r->since, (struct stat_count){ 0 });
	}
	return 0;
}

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
	bool pipe = r->source->header.pipe; /* for which perf ignores the level that is asked for */
	uint32_t level = r->o->per_cache && !pipe ? (uint32_t)r->o->cache_level : r->config.cache_level;
	recorded_topology_read(&topology, &r->source->header);
	for (size_t i = 0; i < r->threads.list.count; i++)
		vec_push(&threads, ((struct aggregate_thread){ r->threads.list.items[i].tid, r->threads.list.items[i].comm }));
	const struct aggregates_input input = {
		.counters = r->counters.items, .count = r->counters.count, .threads = threads.items, .thread_count = threads.count,
		.grain = r->run->grain, .cache_level = level > STAT_CACHE_LEVEL_MAX ? 0 : (int)level, .context = &topology,
		.place = pipe ? unrecorded_place : recorded_place,
	};
	aggregates_make(&r->aggregates, &input);
	recorded_topology_fini(&topology);
	vec_fini(&threads);
}

static int configure(struct report *r, const struct record *record, struct error *err)
{
	struct stat_run *run = r->run;
	if (r->configured)
		return 0;
	if (!r->cpus.list.count || !r->threads.list.count)
		return error_set(err, ERROR_FORMAT, "the recording has no list of CPUs or threads before its counts");
	if (!stat_config_read(record, &r->config))
		return error_set(err, ERROR_FORMAT, "the configuration of the recording is damaged");
	run->grain = r->asked != STAT_ALL ? r->asked : recorded_grain(r->config.aggregation);
	if (add_counters(r, err) < 0)
		return -1;
	make_aggregates(r);
	stat_style_set(run);
	run->style.labels = r->aggregates.labels.items;
	run->style.tids = r->aggregates.tids.items;
	run->style.hide_zero = false;
	for (size_t i = 0; i < run->events.list.count; i++)
		run->unsupported[i] = true;
	r->table.strict = run->grain != STAT_ALL && run->grain != STAT_THREAD;
	r->table.cumulative = true;
	r->configured = true;
	return 0;
}

static int take_value(struct report *r, const struct record *record, struct error *err)
{
	const struct evlist *evlist = &r->source->header.evlist;
	struct stat_value value;
	if (!r->configured || !stat_value_read(record, &value))
		return error_set(err, ERROR_FORMAT, "a count of the recording is damaged");
	uint32_t event = evlist->events.count == 1 ? 0 : idmap_get(&evlist->by_id, value.id);
	if (event >= r->first.count)
		return error_set(err, ERROR_FORMAT, "Failed to resolve counter for stat event.");
	const struct cpus *cpus = cpus_of(r, event);
	size_t place = cpus_index(cpus, value.cpu);
	if (place >= cpus->list.count || value.thread >= r->threads.list.count)
		return error_set(err, ERROR_FORMAT, "Invalid CPU %d or thread %" PRIu32 " for event %s.", value.cpu, value.thread,
			r->run->events.list.items[event].name);
	r->now.items[r->first.items[event] + place * r->threads.list.count + value.thread] =
		(struct stat_count){ value.value, value.enabled, value.running, false };
	r->run->unsupported[event] = false;
	return 0;
}

static void print(struct report *r, uint64_t time_ns)
{
	struct stat_run *run = r->run;
	bool title = r->printed % HEADING_EVERY == 0;
	r->printed++;
	if (!r->config.interval_ms) {
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

static int take_round(struct report *r, const struct record *record, struct error *err)
{
	struct stat_run *run = r->run;
	struct stat_round round;
	if (!r->configured || !stat_round_read(record, &round))
		return error_set(err, ERROR_FORMAT, "a round of counts of the recording is damaged");
	for (size_t i = 0; i < r->now.count; i++) {
		const struct stat_count *now = &r->now.items[i], *before = &r->before.items[i];
		r->since.items[i] = (struct stat_count){
			now->value - before->value, now->enabled - before->enabled, now->running - before->running, false,
		};
		r->before.items[i] = *now;
	}
	if (round.type == STAT_ROUND_FINAL)
		stat_spread_add(&run->elapsed_ns, (double)round.time_ns);
	stat_table_fill(&r->table, &run->events, run->unsupported, (uint32_t)r->aggregates.labels.count, r->aggregates.places.items,
		r->since.items, r->since.count, r->config.scale);
	stat_table_metrics(&r->table, run->elapsed_ns.mean);
	print(r, round.time_ns);
	return 0;
}

static int take_record(struct report *r, const struct record *record, struct error *err)
{
	switch (record->type) {
	case RECORD_THREAD_MAP:
		if (!r->threads.list.count && !stat_threads_read(record, &r->arena, &r->threads))
			return error_set(err, ERROR_FORMAT, "the list of threads of the recording is damaged");
		return 0;
	case RECORD_CPU_MAP:
		if (!r->cpus.list.count && !stat_cpus_read(record, &r->cpus))
			return error_set(err, ERROR_FORMAT, "the list of CPUs of the recording is damaged");
		return 0;
	case RECORD_STAT_CONFIG:
		return configure(r, record, err);
	case RECORD_STAT:
		return take_value(r, record, err);
	case RECORD_STAT_ROUND:
		return take_round(r, record, err);
	default:
		return 0;
	}
}

static void take_command(struct report *r)
{
	struct feature_strings words;
	if (feature_cmdline(&r->source->header, &r->arena, &words) < 0 || !words.count)
		return;
	for (uint32_t i = 0; i < words.count; i++)
		vec_push(&r->command, words.items[i]);
	vec_push(&r->command, NULL);
	r->run->command = r->command.items;
}

static int read_recording(struct report *r, const char *path, struct error *err)
{
	const struct source_options options = { 0 };
	struct record record;
	int status;
	if (source_open(&r->source, path, &options, err) < 0)
		return -1;
	take_command(r);
	while ((status = source_next(r->source, &record, err)) > 0) {
		if (take_record(r, &record, err) < 0)
			return -1;
		source_release(r->source, source_mark(r->source));
	}
	return status;
}

static void report_fini(struct report *r)
{
	aggregates_fini(&r->aggregates);
	stat_table_fini(&r->table);
	for (size_t i = 0; i < r->event_cpus.count; i++)
		cpus_fini(&r->event_cpus.items[i]);
	vec_fini(&r->event_cpus);
	vec_fini(&r->first);
	vec_fini(&r->counters);
	vec_fini(&r->now);
	vec_fini(&r->before);
	vec_fini(&r->since);
	vec_fini(&r->command);
	vec_fini(&r->threads.list);
	cpus_fini(&r->cpus);
	arena_fini(&r->arena);
	source_close(r->source);
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
	if (read_recording(&report, options.input && *options.input ? options.input : piped ? "-" : "perf.data", &err) < 0) {
		writer_flush(&run->out, NULL);
		cli_complain(run->cli, &err);
		status = report.source ? EXIT_INVALID : EXIT_FAILED;
	} else if (writer_flush(&run->out, &err) < 0) {
		status = cli_complain(run->cli, &err);
	}
	run->command = NULL;
	stat_output_close(run);
	report_fini(&report);
	return status;
}
