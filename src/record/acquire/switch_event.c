#include "record/acquire/switch_event.h"

#include <string.h>

#include "record/acquire/configure.h"

enum { RING_PAGES = 16 };

int switch_event_open(struct switch_event *event, struct events *events, struct error *err)
{
	static const struct target_options everywhere = { .all_cpus = true };
	static const struct sampling each = { .period = 1, .no_buffering = true, .no_inherit = true, .no_bpf_event = true };
	const char *warning;
	event->events = events;
	if (target_open(&event->target, &everywhere, &warning, err) < 0)
		return -1;
	if (configure_events(events, &each, &event->target, NULL, err) < 0)
		return -1;
	for (size_t i = 0; i < events->list.count; i++) /* only samples matter */
		events->list.items[i].attr.flags &= ~((uint64_t)1 << ATTR_MMAP | (uint64_t)1 << ATTR_MMAP2 | (uint64_t)1 << ATTR_COMM |
			(uint64_t)1 << ATTR_COMM_EXEC | (uint64_t)1 << ATTR_TASK | (uint64_t)1 << ATTR_KSYMBOL);
	if (counters_open(&event->counters, events, &event->target, NULL, err) < 0)
		return -1;
	if (counters_map(&event->counters, events, &(struct ring_sizes){ .pages = RING_PAGES }, err) < 0)
		return -1;
	counters_switch(&event->counters, events, UINT32_MAX, true);
	return 0;
}

void switch_event_close(struct switch_event *event)
{
	counters_close(&event->counters);
	target_close(&event->target);
}

bool switch_event_happened(struct switch_event *event)
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
