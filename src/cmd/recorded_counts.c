#include "cmd/recorded_counts.h"

#include <inttypes.h>
#include <string.h>

#include "cmd/loss_summary.h"
#include "data/evsel_name.h"

/* Counters that a recording may claim: events × CPUs × threads. */
enum { COUNTERS_MAX = 1 << 22 };

int recorded_counts_open(struct recorded_counts *r, const char *path, struct events *events, struct budget *budget, struct error *err)
{
	const struct source_options options = { .event_memory = source_event_memory(budget) };
	r->events = events;
	return source_open(&r->source, path, &options, err);
}

int recorded_counts_complain(const struct recorded_counts *r, const struct cli *cli, const char *path)
{
	const struct header *header = &r->source->header;
	const struct losses losses = { .unfinished = header->interrupted, .left_out_events = header->left_out_events };
	return loss_summary_print(cli, path, &losses, false);
}

void recorded_counts_fini(struct recorded_counts *r)
{
	for (size_t i = 0; i < r->event_cpus.count; i++)
		cpus_fini(&r->event_cpus.items[i]);
	vec_fini(&r->event_cpus);
	vec_fini(&r->first);
	vec_fini(&r->counters);
	vec_fini(&r->now);
	vec_fini(&r->before);
	vec_fini(&r->since);
	vec_fini(&r->missing);
	vec_fini(&r->threads.list);
	cpus_fini(&r->cpus);
	arena_fini(&r->arena);
	source_close(r->source);
}

static const struct cpus *cpus_of(const struct recorded_counts *r, size_t event)
{
	const struct cpus *own = &r->event_cpus.items[event];
	return own->list.count ? own : &r->cpus;
}

static void add_event(struct recorded_counts *r, const struct evsel *evsel)
{
	struct event *event = vec_add(&r->events->list);
	struct cpus *own = vec_add(&r->event_cpus);
	char buffer[EVSEL_NAME_MAX];
	const char *name = evsel_name(evsel, buffer, sizeof buffer);
	*event = (struct event){
		.attr = evsel->attr, .name = arena_string(&r->arena, name, strlen(name)), .unit = evsel->unit, .scale = evsel->scale,
		.leader = evsel->leader, .members = evsel->group_members,
	};
	if (stat_is_clock(event) && !event->unit) { /* as in perf, also without EVENT_UPDATE */
		event->unit = "msec";
		event->scale = 1e-6;
	}
	for (size_t i = 0; evsel->cpus && i < evsel->cpus->count; i++)
		cpus_add(own, evsel->cpus->cpus[i]);
}

static int add_counters(struct recorded_counts *r, struct error *err)
{
	const struct evlist *evlist = &r->source->header.evlist;
	for (size_t i = 0; i < evlist->events.count; i++) {
		add_event(r, &evlist->events.items[i]);
		const struct cpus *cpus = cpus_of(r, i);
		vec_push(&r->first, r->counters.count);
		vec_push(&r->missing, true);
		if (cpus->list.count * r->threads.list.count > COUNTERS_MAX - r->counters.count)
			return error_set(err, ERROR_FORMAT, "the recording claims more than %d counters", COUNTERS_MAX);
		for (size_t k = 0; k < cpus->list.count; k++)
			for (uint32_t t = 0; t < r->threads.list.count; t++)
				vec_push(&r->counters, ((struct stat_counter){ (uint32_t)i, cpus->list.items[k], t }));
	}
	for (size_t i = 0; i < r->counters.count; i++) {
		vec_push(&r->now, (struct stat_count){ 0 });
		vec_push(&r->before, (struct stat_count){ 0 });
		vec_push(&r->since, (struct stat_count){ 0 });
	}
	return 0;
}

static int configure(struct recorded_counts *r, const struct record *record, struct error *err)
{
	if (r->configured)
		return 0;
	if (!r->cpus.list.count || !r->threads.list.count)
		return error_set(err, ERROR_FORMAT, "the recording has no list of CPUs or threads before its counts");
	if (!stat_config_read(record, &r->config))
		return error_set(err, ERROR_FORMAT, "the configuration of the recording is damaged");
	if (add_counters(r, err) < 0)
		return -1;
	r->configured = true;
	return RECORDED_CONFIGURATION;
}

static int take_value(struct recorded_counts *r, const struct record *record, struct error *err)
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
			r->events->list.items[event].name);
	r->now.items[r->first.items[event] + place * r->threads.list.count + value.thread] =
		(struct stat_count){ value.value, value.enabled, value.running, false };
	r->missing.items[event] = false;
	return 0;
}

static int take_round(struct recorded_counts *r, const struct record *record, struct error *err)
{
	if (!r->configured || !stat_round_read(record, &r->round))
		return error_set(err, ERROR_FORMAT, "a round of counts of the recording is damaged");
	for (size_t i = 0; i < r->now.count; i++) {
		const struct stat_count *now = &r->now.items[i], *before = &r->before.items[i];
		r->since.items[i] = (struct stat_count){
			now->value - before->value, now->enabled - before->enabled, now->running - before->running, false,
		};
		r->before.items[i] = *now;
	}
	return RECORDED_ROUND;
}

static int take_record(struct recorded_counts *r, const struct record *record, struct error *err)
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

int recorded_counts_next(struct recorded_counts *r, struct error *err)
{
	struct record record;
	int status;
	while ((status = source_next(r->source, &record, err)) > 0) {
		int step = take_record(r, &record, err);
		if (step)
			return step;
		source_release(r->source, source_mark(r->source));
	}
	return status;
}
