/* The step that shows where tasks slept (--sched-stat): a sample of sched_stat_* becomes the last sched_switch of its task, which has the
 * stack, with the time and the period of the former. */
#include <stdlib.h>

#include "base/str.h"
#include "data/evsel_name.h"
#include "rewrite/state.h"
#include "tracepoint/tracepoint.h"

struct sched {
	struct tracepoints *tracepoints;
	bool tracepoints_tried;
	struct idmap by_tid;         /* tid → index in switches */
	VEC(struct str) switches;    /* the record of each task's last sched_switch; empty after its exit */
};

static bool merges_sched_stat(const struct rewrite_options *options)
{
	return options->sched_stat && options->ids != IDS_HIT && options->ids != IDS_MMAP2_HIT;
}

static void *open_step(struct rewrite *r)
{
	return memory_zero(1, sizeof(struct sched));
}

static void close_step(void *state)
{
	struct sched *s = state;
	for (size_t i = 0; i < s->switches.count; i++)
		str_fini(&s->switches.items[i]);
	vec_fini(&s->switches);
	idmap_fini(&s->by_tid);
	tracepoints_close(s->tracepoints);
	free(s);
}

/* prefix: of the tracepoint's name, or all of it. */
static bool is_event(const struct sched *s, const struct evsel *evsel, const char *prefix, bool whole)
{
	char buffer[EVSEL_NAME_MAX];
	const char *name = evsel_name(evsel, buffer, sizeof buffer), *system;
	if (!evsel->name && evsel->attr.type == ATTR_TRACEPOINT && tracepoints_name(s->tracepoints, evsel->attr.config, &system, &name))
		return strcmp(system, "sched") == 0 && strncmp(name, prefix, whole ? strlen(prefix) + 1 : strlen(prefix)) == 0;
	return strncmp(name, "sched:", 6) == 0 && strncmp(name + 6, prefix, whole ? strlen(prefix) + 1 : strlen(prefix)) == 0;
}

static void forget_switch(struct sched *s, uint32_t tid)
{
	uint32_t at = idmap_get(&s->by_tid, tid);
	if (at != IDMAP_NONE)
		str_clear(&s->switches.items[at]);
}

static void store_switch(struct sched *s, const struct item *item)
{
	bool added;
	uint32_t at = idmap_add(&s->by_tid, item->sample.tid, (uint32_t)s->switches.count, &added);
	struct str *last = added ? vec_add(&s->switches) : &s->switches.items[at];
	str_clear(last);
	str_add(last, (const char *)item->record.body - 8, item->record.body_len + 8);
}

static void set_u64(struct str *record, int at, uint64_t value)
{
	if (at >= 0 && 8 + (size_t)at * 8 + 8 <= record->len)
		memcpy(record->text + 8 + at * 8, &value, sizeof value);
}

/* As perf does, the switch is read by the layout of the other event. */
static enum fate substitute(struct sched *s, struct item *item)
{
	uint64_t pid;
	const struct evsel *evsel = item->evsel;
	const struct tracepoint_field *field = tracepoints_field(s->tracepoints, evsel->attr.config, "pid");
	if (!field || !tracepoint_field_number(field, item->sample.raw, item->sample.raw_size, &pid))
		return FATE_DROP;
	uint32_t at = idmap_get(&s->by_tid, (uint32_t)pid);
	struct str *last = at == IDMAP_NONE ? NULL : &s->switches.items[at];
	if (!last || !last->len)
		return FATE_DROP;
	uint16_t misc;
	memcpy(&misc, last->text + 4, sizeof misc);
	set_u64(last, evsel->layout.time_at, item->sample.time);
	set_u64(last, evsel->layout.period_at, item->sample.period);
	item->record = (struct record){ .type = RECORD_SAMPLE, .misc = misc,
					.body = (const uint8_t *)last->text + 8, .body_len = (uint32_t)last->len - 8 };
	item->substituted = true;
	item_decode_sample(item);
	return FATE_WRITE;
}

static int after(void *state, struct rewrite *r, struct item *item, struct error *err)
{
	struct sched *s = state;
	if (item->record.type != RECORD_SAMPLE || !item->decoded || item->evsel->attr.type != ATTR_TRACEPOINT)
		return FATE_WRITE;
	const struct span formats = r->source->header.feature_data[FEATURE_TRACING_DATA];
	if (!s->tracepoints_tried && formats.data)
		tracepoints_open(&s->tracepoints, formats, NULL);
	s->tracepoints_tried |= formats.data != NULL;
	if (is_event(s, item->evsel, "sched_switch", true)) {
		store_switch(s, item);
		return FATE_DROP;
	}
	if (is_event(s, item->evsel, "sched_process_exit", true)) {
		forget_switch(s, item->sample.tid);
		return FATE_DROP;
	}
	return is_event(s, item->evsel, "sched_stat_", false) ? substitute(s, item) : FATE_WRITE;
}

const struct step step_sched = { .wanted = merges_sched_stat, .open = open_step, .after = after, .close = close_step };
