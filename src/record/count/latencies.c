#include "record/count/latencies.h"

#include "abi/sample.h"
#include "record/acquire/configure.h"
#include "record/acquire/records.h"

enum { PRECISE_MOST = 3 };

bool latencies_wanted(const struct events *events)
{
	for (size_t i = 0; i < events->list.count; i++)
		if (events->list.items[i].retire_latency)
			return true;
	return false;
}

/* R takes the place of a p: only precise samples have latencies. */
static struct event sampled_event(const struct event *event, uint32_t index)
{
	struct event copy = *event;
	unsigned precise = attr_precise_ip(&copy.attr);
	copy.attr.flags &= ~((uint64_t)3 << ATTR_PRECISE_IP);
	copy.attr.flags |= (uint64_t)(precise < PRECISE_MOST ? precise + 1 : PRECISE_MOST) << ATTR_PRECISE_IP;
	if (!copy.exclude_gh) /* as a p does */
		set_attr_flag(&copy.attr, ATTR_EXCLUDE_GUEST, true);
	copy.leader = index;
	copy.members = 1;
	copy.retire_latency = false;
	copy.cgroup = NULL; /* its descriptor is the other event's */
	return copy;
}

static void copy_events(struct latencies *l, const struct events *events)
{
	for (size_t i = 0; i < events->list.count; i++) {
		const struct event *event = &events->list.items[i];
		uint32_t index = (uint32_t)l->events.list.count;
		vec_push(&l->index, event->retire_latency ? index : UINT32_MAX);
		if (!event->retire_latency)
			continue;
		vec_push(&l->events.list, sampled_event(event, index));
		vec_push(&l->sums, (struct latency_sum){ 0 });
	}
}

/* The attributes of `record -W`, without its event for side-band records. */
static int configure(struct latencies *l, struct error *err)
{
	struct sampling sampling = { .freq = SAMPLING_FREQ_DEFAULT };
	size_t count = l->events.list.count;
	sampling.fields[SAMPLE_BIT_WEIGHT_STRUCT] = true;
	configure_defaults(&l->events, &sampling, &l->target);
	if (configure_events(&l->events, &sampling, &l->target, NULL, err) < 0)
		return -1;
	l->events.list.count = count;
	return 0;
}

bool latencies_sampled(const struct latencies *l, uint32_t event)
{
	uint32_t index = event < l->index.count ? l->index.items[event] : UINT32_MAX;
	/* an older kernel gets the plain weight, which has no latency */
	return index != UINT32_MAX && index < l->counters.states.count && l->counters.states.items[index] == COUNTER_OPENED &&
		l->events.list.items[index].attr.sample_type & SAMPLE_WEIGHT_STRUCT;
}

static void report(const struct latencies *l, const struct events *events, struct str *warnings)
{
	CLEANUP_STR struct str names = { 0 };
	for (uint32_t i = 0; i < l->index.count; i++)
		if (l->index.items[i] != UINT32_MAX && !latencies_sampled(l, i))
			str_printf(&names, "%s%s", names.len ? ", " : "", events->list.items[i].name);
	if (names.len && warnings)
		str_printf(warnings, "This machine or kernel does not sample retire latencies, which perf record -W needs, too (timed PEBS, Intel "
			"Granite Rapids and later), so these are not counted: %s\n", str_text(&names));
}

int latencies_open(struct latencies *l, const struct events *events, const char *cpus, struct str *warnings, struct error *err)
{
	const struct target_options target = { .all_cpus = !cpus, .cpus = cpus };
	const struct ring_sizes sizes = { .pages = ring_default_pages() };
	const char *warning;
	copy_events(l, events);
	if (target_open(&l->target, &target, &warning, err) < 0 || configure(l, err) < 0)
		return -1;
	/* partly: no clock may replace the event, as its samples have no latencies */
	if (counters_open_partly(&l->counters, &l->events, &l->target, false, NULL, err) < 0 || counters_read_ids(&l->counters, err) < 0 ||
	    counters_map(&l->counters, &l->events, &sizes, err) < 0)
		return -1;
	counters_evlist(&l->counters, &l->events, NULL, &l->evlist);
	report(l, events, warnings);
	return 0;
}

void latencies_switch(struct latencies *l, uint32_t event, bool on)
{
	uint32_t index = event < l->index.count ? l->index.items[event] : UINT32_MAX;
	if (event == UINT32_MAX || index != UINT32_MAX)
		counters_switch(&l->counters, &l->events, index, on);
}

void latencies_add(struct latencies *l, const struct record *record)
{
	struct sample sample;
	uint32_t event = record->type == RECORD_SAMPLE ? evlist_event_of_sample(&l->evlist, record) : UINT32_MAX;
	if (event >= l->sums.count || sample_decode(&sample, &l->evlist.events.items[event].layout, record, NULL) < 0)
		return;
	struct latency_sum *sum = &l->sums.items[event];
	sum->cycles += sample.p_stage_cyc;
	sum->last = sample.p_stage_cyc;
	sum->min = !sum->samples || sum->min > sum->last ? sum->last : sum->min;
	sum->max = sum->max < sum->last ? sum->last : sum->max;
	sum->samples++;
}

void latencies_take(struct latencies *l)
{
	struct ring_order *order = &l->order;
	size_t rings = l->counters.rings.count;
	if (!rings || ring_order_fill(order, l->counters.rings.items, rings, &l->evlist, true, NULL) < 0)
		return;
	for (size_t i = 0; i < order->items.count; i++) {
		const struct record record = record_of(order->items.items[i].bytes, order->items.items[i].size);
		latencies_add(l, &record);
	}
	for (size_t i = 0; i < rings; i++)
		if (order->places.items[i].found)
			ring_consume(&l->counters.rings.items[i], order->places.items[i].found);
}

uint64_t latencies_samples(const struct latencies *l)
{
	uint64_t samples = 0;
	for (size_t i = 0; i < l->sums.count; i++)
		samples += l->sums.items[i].samples;
	return samples;
}

static uint64_t mean(const struct latency_sum *sum)
{
	uint64_t whole = sum->cycles / sum->samples, rest = sum->cycles % sum->samples;
	return whole + (rest > sum->samples - rest || (rest == sum->samples - rest && whole % 2));
}

uint64_t latencies_value(const struct latencies *l, uint32_t event, enum latency_choice choice)
{
	uint32_t index = event < l->index.count ? l->index.items[event] : UINT32_MAX;
	const struct latency_sum *sum = index < l->sums.count ? &l->sums.items[index] : NULL;
	if (!sum || !sum->samples)
		return 0;
	switch (choice) {
	case LATENCY_MIN:
		return sum->min;
	case LATENCY_MAX:
		return sum->max;
	case LATENCY_LAST:
		return sum->last;
	default:
		return mean(sum);
	}
}

void latencies_close(struct latencies *l)
{
	counters_close(&l->counters);
	target_close(&l->target);
	ring_order_fini(&l->order);
	evlist_fini(&l->evlist);
	events_fini(&l->events);
	vec_fini(&l->index);
	vec_fini(&l->sums);
}
