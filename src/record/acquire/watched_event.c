#include "record/acquire/watched_event.h"

#include <string.h>

#include "record/acquire/configure.h"

enum { RING_PAGES = 16, PROGRAMS_RING_PAGES = 1 };

#define SIDE_BAND ((uint64_t)1 << ATTR_MMAP | (uint64_t)1 << ATTR_MMAP2 | (uint64_t)1 << ATTR_COMM | (uint64_t)1 << ATTR_COMM_EXEC | \
	(uint64_t)1 << ATTR_TASK | (uint64_t)1 << ATTR_KSYMBOL)

static int configure(struct watched_event *event, struct events *events, const struct sampling *sampling, struct error *err)
{
	static const struct target_options everywhere = { .all_cpus = true };
	const char *warning;
	if (target_open(&event->target, &everywhere, &warning, err) < 0 || configure_events(events, sampling, &event->target, NULL, err) < 0)
		return -1;
	for (size_t i = 0; i < events->list.count; i++)
		events->list.items[i].attr.flags &= ~SIDE_BAND;
	return 0;
}

static int start(struct watched_event *event, struct events *events, size_t pages, struct measurement *measurement, unsigned bit,
	struct error *err)
{
	if (counters_open(&event->counters, events, &event->target, NULL, err) < 0 ||
	    counters_map(&event->counters, events, &(struct ring_sizes){ .pages = pages }, err) < 0)
		return -1;
	for (size_t i = 0; i < event->counters.rings.count; i++)
		if (measurement_watch(measurement, event->counters.rings.items[i].fd, bit, err) < 0)
			return -1;
	counters_switch(&event->counters, events, UINT32_MAX, true);
	return 0;
}

int watched_event_open(struct watched_event *event, struct events *events, struct measurement *measurement, unsigned bit,
	struct error *err)
{
	static const struct sampling each = { .period = 1, .no_buffering = true, .no_inherit = true, .no_bpf_event = true };
	return configure(event, events, &each, err) < 0 ? -1 : start(event, events, RING_PAGES, measurement, bit, err);
}

int watched_event_open_programs(struct watched_event *event, struct events *events, struct measurement *measurement, unsigned bit,
	struct error *err)
{
	static const struct sampling plain = { .period = 1, .no_inherit = true };
	if (events_parse(events, "dummy:u", NULL) < 0 || configure(event, events, &plain, err) < 0)
		return -1;
	struct attr *attr = &events->list.items[0].attr;
	attr->flags |= (uint64_t)1 << ATTR_WATERMARK | (uint64_t)1 << ATTR_BPF_EVENT; /* wakes at the first byte: records are not samples */
	attr->wakeup_events = 1;
	return start(event, events, PROGRAMS_RING_PAGES, measurement, bit, err);
}

void watched_event_close(struct watched_event *event)
{
	counters_close(&event->counters);
	target_close(&event->target);
}

bool watched_event_happened(struct watched_event *event)
{
	bool any = false;
	for (size_t i = 0; i < event->counters.rings.count; i++) {
		struct ring *ring = &event->counters.rings.items[i];
		struct span pieces[2];
		size_t pending = ring_pending(ring, pieces);
		any |= pending != 0;
		if (pending)
			ring_consume(ring, pending);
	}
	return any;
}
