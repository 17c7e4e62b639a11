#include "cmd/stat/recording.h"

#include <unistd.h>

#include "analysis/stat/stat_records.h"
#include "record/acquire/record_out.h"
#include "record/acquire/synthesize.h"
#include "record/write/features.h"

int stat_recording_open(struct stat_recording *r, const char *path, struct error *err)
{
	*r = (struct stat_recording){ .output = { .fd = -1, .at = -1, .inside = -1 } };
	if (output_open(&r->output, path, err) < 0)
		return -1;
	writer_open(&r->made, -1, 0);
	r->open = true;
	return 0;
}

/* Readers of files find the event of a record by an identifier, although counts have none. In a pipe, a type of samples would make perf's
 * script expect samples. */
static struct attr written(const struct event *event)
{
	struct attr attr = event->attr;
	attr.sample_type = SAMPLE_IDENTIFIER;
	return attr;
}

static void flush_made(struct stat_recording *r)
{
	data_writer_add(&r->writer, r->made.buffer, r->made.len);
	r->made.len = 0;
}

static void add_config(struct stat_recording *r, const struct stat_recording_options *options)
{
	const uint64_t terms[STAT_TERM_COUNT] = {
		[STAT_TERM_AGGREGATION] = options->aggregation, [STAT_TERM_INTERVAL] = (uint64_t)options->interval_ms,
		[STAT_TERM_SCALE] = options->scale, [STAT_TERM_CACHE_LEVEL] = (uint64_t)options->cache_level,
	};
	size_t at = record_open(&r->made, RECORD_STAT_CONFIG, 0);
	out_u64(&r->made, STAT_TERM_COUNT);
	for (uint64_t i = 0; i < STAT_TERM_COUNT; i++) {
		out_u64(&r->made, i);
		out_u64(&r->made, terms[i]);
	}
	record_close(&r->made, at, 0);
}

int stat_recording_begin(struct stat_recording *r, const struct counting *counting, const struct stat_recording_options *options,
	struct error *err)
{
	const struct measurement *m = &counting->measurement;
	struct synthesis synthesis = { .out = &r->made };
	counters_evlist(&m->counters, m->events, r->output.pipe ? NULL : written, &r->evlist);
	if (data_writer_open(&r->writer, r->output.fd, r->output.pipe, &r->evlist, err) < 0)
		return -1;
	if (r->output.pipe)
		synthesize_attributes(&r->made, &r->evlist);
	synthesize_event_updates(&synthesis, m->events, &m->counters, r->output.pipe);
	synthesize_thread_map(&synthesis, &m->target);
	synthesize_cpu_map(&synthesis, &m->counters);
	add_config(r, options);
	flush_made(r);
	return data_writer_flush(&r->writer, err);
}

void stat_recording_add(struct stat_recording *r, const struct counting *counting, const struct counts *counts)
{
	const struct counters *counters = &counting->measurement.counters;
	for (size_t i = 0; i < counts->list.count; i++) {
		const struct counter *counter = &counters->list.items[i];
		const struct count *count = &counts->list.items[i];
		if (counter->fd < 0 || counters->states.items[counter->event] != COUNTER_OPENED)
			continue;
		size_t at = record_open(&r->made, RECORD_STAT, 0);
		out_u64(&r->made, counter->id);
		out_u32(&r->made, (uint32_t)counter->cpu);
		out_u32(&r->made, counting_thread(counting, i));
		out_u64(&r->made, count->value);
		out_u64(&r->made, count->enabled);
		out_u64(&r->made, count->running);
		record_close(&r->made, at, 0);
	}
	flush_made(r);
}

void stat_recording_round(struct stat_recording *r, uint64_t type, uint64_t time_ns)
{
	size_t at = record_open(&r->made, RECORD_STAT_ROUND, 0);
	out_u64(&r->made, type);
	out_u64(&r->made, time_ns);
	record_close(&r->made, at, 0);
	flush_made(r);
}

void stat_recording_flush(struct stat_recording *r)
{
	data_writer_flush(&r->writer, NULL);
}

void stat_recording_checkpoint(struct stat_recording *r, const struct counting *counting, const struct counts *counts, uint64_t time_ns)
{
	uint64_t size = data_writer_size(&r->writer);
	if (r->output.pipe)
		return;
	stat_recording_add(r, counting, counts);
	stat_recording_round(r, STAT_ROUND_FINAL, time_ns);
	data_writer_rewind(&r->writer, size, NULL);
}

void stat_recording_kernel(struct stat_recording *r)
{
	struct synthesis synthesis = { .out = &r->made };
	synthesize_kernel(&synthesis);
	flush_made(r);
}

static bool has_tracepoints(const struct events *events)
{
	for (size_t i = 0; i < events->list.count; i++)
		if (events->list.items[i].system)
			return true;
	return false;
}

int stat_recording_finish(struct stat_recording *r, struct events *events, const char *const *command, struct error *err)
{
	struct features features;
	struct writer tracing;
	const struct bpf_programs none = { 0 };
	struct feature_facts facts = {
		.version = "perfuse " PERFUSE_VERSION, .command = command, .events = events, .evlist = &r->evlist, .programs = &none, .counts = true,
	};
	if (r->output.pipe)
		return data_writer_flush(&r->writer, err);
	writer_open(&tracing, -1, 0);
	if (has_tracepoints(events) && tracing_data_make(&tracing, events, NULL) == 0)
		facts.tracing = (struct span){ (const uint8_t *)tracing.buffer, tracing.len };
	features_make(&features, &facts);
	writer_fini(&tracing);
	const struct feature_bodies bodies = features_bodies(&features);
	int status = data_writer_finish(&r->writer, &r->evlist, &bodies, err);
	features_fini(&features);
	if (status == 0)
		status = output_close(&r->output, err);
	if (status == 0)
		r->output.made = false;
	return status;
}

void stat_recording_close(struct stat_recording *r)
{
	if (!r->open)
		return;
	if (r->output.made)
		output_discard(&r->output);
	data_writer_fini(&r->writer);
	evlist_fini(&r->evlist);
	writer_fini(&r->made);
	r->open = false;
}
