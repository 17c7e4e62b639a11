#include "analysis/count/stats.h"


void stats_fini(struct stats *stats)
{
	vec_fini(&stats->events);
	sample_reads_fini(&stats->reads);
}

static struct event_stats *event_stats(struct stats *stats, uint32_t event)
{
	while (stats->events.count <= event)
		vec_add(&stats->events);
	return &stats->events.items[event];
}

static void count_read_value(void *context, const struct sample_part *part)
{
	event_stats(context, part->event)->samples++;
}

static void count_sample_reads(struct stats *stats, const struct evlist *evlist, uint32_t event, const struct record *record)
{
	struct sample sample;
	if (sample_decode(&sample, &evlist->events.items[event].layout, record, NULL) == 0)
		sample_reads_each(&stats->reads, evlist, event, &sample, count_read_value, stats);
}

static void count_branches(struct stats *stats, uint32_t event, const struct evsel *evsel, const struct record *record)
{
	struct sample sample;
	if (sample_decode(&sample, &evsel->layout, record, NULL) == 0)
		event_stats(stats, event)->samples += sample.branch_count;
}

static void count_lost_samples(struct stats *stats, uint32_t event, const struct record *record)
{
	struct cursor c = cursor_of(record->body, record->body_len, false);
	uint64_t lost = take_u64(&c);
	if (record->misc & RECORD_MISC_LOST_SAMPLES_BPF)
		event_stats(stats, event)->dropped += lost;
	else
		event_stats(stats, event)->lost += lost;
}

void stats_count(struct stats *stats, const struct header *header, const struct record *record)
{
	stats->total++;
	if (record->type >= RECORD_TYPE_MAX)
		return;
	stats->by_type[record->type]++;
	if (record->type != RECORD_SAMPLE && record->type != RECORD_LOST_SAMPLES)
		return;
	const struct evlist *evlist = &header->evlist;
	uint32_t event = evlist_event_of(evlist, record);
	if (event == UINT32_MAX)
		return;
	const struct evsel *evsel = &evlist->events.items[event];
	if (record->type == RECORD_LOST_SAMPLES) {
		if (!stats->as_dump)
			count_lost_samples(stats, event, record);
	} else if (stats->by_branch && evsel->attr.sample_type & SAMPLE_BRANCH_STACK) {
		count_branches(stats, event, evsel, record);
	} else if (evsel->attr.sample_type & SAMPLE_READ) {
		count_sample_reads(stats, evlist, event, record);
	} else {
		event_stats(stats, event)->samples++;
	}
}
