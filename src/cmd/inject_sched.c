/* --sched-stat: how long a task slept or waited (sched_stat_*), shown where it did: with the stack of its last sched_switch. */
#include <stdlib.h>

#include "base/str.h"
#include "cmd/inject.h"
#include "data/evsel_name.h"

static bool is_event(const struct inject *inject, const struct evsel *evsel, const char *prefix, bool whole)
{
	char buffer[EVSEL_NAME_MAX];
	const char *name = evsel_name(evsel, buffer, sizeof buffer), *system;
	if (!evsel->name && evsel->attr.type == ATTR_TRACEPOINT && tracepoints_name(inject->tracepoints, evsel->attr.config, &system, &name))
		return strcmp(system, "sched") == 0 && strncmp(name, prefix, whole ? strlen(prefix) + 1 : strlen(prefix)) == 0;
	return strncmp(name, "sched:", 6) == 0 && strncmp(name + 6, prefix, whole ? strlen(prefix) + 1 : strlen(prefix)) == 0;
}

static void forget_switch(struct inject *inject, uint32_t tid)
{
	uint32_t at = idmap_get(&inject->switches, tid);
	if (at != IDMAP_NONE)
		str_clear(&inject->switch_records.items[at]);
}

static void keep_switch(struct inject *inject, const struct step *step)
{
	bool added;
	uint32_t at = idmap_add(&inject->switches, step->sample.tid, (uint32_t)inject->switch_records.count, &added);
	struct str *kept = added ? vec_add(&inject->switch_records) : &inject->switch_records.items[at];
	str_clear(kept);
	str_add(kept, (const char *)step->record.body - 8, step->record.body_len + 8);
}

/* u64s before a sample's period; -1: it has none. */
static int period_at(uint64_t type)
{
	static const uint64_t before[] = {
		SAMPLE_IDENTIFIER, SAMPLE_IP, SAMPLE_TID, SAMPLE_TIME, SAMPLE_ADDR, SAMPLE_ID, SAMPLE_STREAM_ID, SAMPLE_CPU,
	};
	int at = 0;
	for (size_t i = 0; i < sizeof before / sizeof *before; i++)
		at += (type & before[i]) != 0;
	return type & SAMPLE_PERIOD ? at : -1;
}

static void set_u64(struct str *record, int at, uint64_t value)
{
	if (at >= 0 && 8 + (size_t)at * 8 + 8 <= record->len)
		memcpy(record->text + 8 + at * 8, &value, sizeof value);
}

static void write_stat(struct inject *inject, const struct step *step)
{
	uint64_t pid;
	const struct tracepoint_field *field = tracepoints_field(inject->tracepoints, step->evsel->attr.config, "pid");
	if (!field || !tracepoint_field_number(field, step->sample.raw, step->sample.raw_size, &pid))
		return;
	uint32_t at = idmap_get(&inject->switches, (uint32_t)pid);
	struct str *kept = at == IDMAP_NONE ? NULL : &inject->switch_records.items[at];
	if (!kept || !kept->len)
		return;
	set_u64(kept, step->evsel->layout.time_at, step->sample.time);
	set_u64(kept, period_at(step->evsel->attr.sample_type), step->sample.period);
	struct step moved = { .evsel = step->evsel };
	moved.record = (struct record){ .type = RECORD_SAMPLE, .misc = (uint16_t)(load_u32(kept->text + 4) & 0xffff),
					.body = (const uint8_t *)kept->text + 8, .body_len = (uint32_t)kept->len - 8 };
	moved.decoded = sample_decode(&moved.sample, &step->evsel->layout, &moved.record, NULL) == 0;
	ids_sample(inject, &moved);
	inject_write_record(&inject->out, &moved.record, (struct span){ 0 });
}

bool sched_sample(struct inject *inject, const struct step *step)
{
	const struct span formats = inject->source->header.feature_data[FEATURE_TRACING_DATA];
	if (!step->decoded || step->evsel->attr.type != ATTR_TRACEPOINT)
		return false;
	if (!inject->tracepoints_tried && formats.data)
		tracepoints_open(&inject->tracepoints, formats, NULL);
	inject->tracepoints_tried |= formats.data != NULL;
	if (is_event(inject, step->evsel, "sched_switch", true)) {
		keep_switch(inject, step);
		return true;
	}
	if (is_event(inject, step->evsel, "sched_process_exit", true)) {
		forget_switch(inject, step->sample.tid);
		return true;
	}
	if (!is_event(inject, step->evsel, "sched_stat_", false))
		return false;
	write_stat(inject, step);
	return true;
}

void sched_close(struct inject *inject)
{
	for (size_t i = 0; i < inject->switch_records.count; i++)
		str_fini(&inject->switch_records.items[i]);
	vec_fini(&inject->switch_records);
	idmap_fini(&inject->switches);
	tracepoints_close(inject->tracepoints);
}
