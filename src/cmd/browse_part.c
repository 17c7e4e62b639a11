#include "cmd/browse_part.h"

#include <stdlib.h>

#include "base/memory.h"
#include "cmd/browse_flame.h"
#include "cmd/browse_screen.h"

static void batch_begin(void *context, struct session *session, size_t slices)
{
	const struct browse_part *part = context;
	if (part->sink.batch_begin)
		part->sink.batch_begin(part->sink.context, session, slices);
	if (part->flame && part->flame_sink.batch_begin)
		part->flame_sink.batch_begin(part->flame_sink.context, session, slices);
}

static void record(void *context, const struct resolved *r, size_t slice)
{
	const struct browse_part *part = context;
	const struct browse_screen *screen = part->screen;
	bool sample = r->record->type == RECORD_SAMPLE;
	uint64_t time = r->sample->time;
	if (sample && time != UINT64_MAX && time) {
		heat_add(&screen->heats[r->worker ? worker_index(r->worker) : 0], time);
		if (time < screen->current.start_ns || time > screen->current.end_ns)
			return;
	}
	if (sample && part->flame)
		part->flame_sink.record(part->flame_sink.context, r, slice);
	part->sink.record(part->sink.context, r, slice);
}

static void slice_end(void *context, const struct worker *worker, size_t slice)
{
	const struct browse_part *part = context;
	if (part->sink.slice_end)
		part->sink.slice_end(part->sink.context, worker, slice);
	if (part->flame && part->flame_sink.slice_end)
		part->flame_sink.slice_end(part->flame_sink.context, worker, slice);
}

static void batch_end(void *context, struct session *session, size_t slices)
{
	const struct browse_part *part = context;
	if (part->sink.batch_end)
		part->sink.batch_end(part->sink.context, session, slices);
	if (part->flame && part->flame_sink.batch_end)
		part->flame_sink.batch_end(part->flame_sink.context, session, slices);
}

static void forget(void *context, unsigned worker)
{
	const struct browse_part *part = context;
	part->sink.forget(part->sink.context, worker);
}

static void meanwhile(void *context)
{
	const struct browse_part *part = context;
	part->sink.meanwhile(part->sink.context);
}

static bool wants_type(void *context, uint32_t type)
{
	const struct browse_part *part = context;
	return part->sink.wants_type(part->sink.context, type);
}

static size_t ahead(void *context)
{
	const struct browse_part *part = context;
	return part->sink.ahead(part->sink.context) + (part->flame ? part->flame_sink.ahead(part->flame_sink.context) : 0);
}

static void raw(void *context, struct session *session, const struct record *record)
{
	const struct browse_part *part = context;
	part->sink.raw(part->sink.context, session, record);
}

static bool wants_event(void *context, uint32_t event)
{
	const struct browse_part *part = context;
	return part->sink.wants_event(part->sink.context, event);
}

static void open_flame(struct browse_part *part, unsigned workers, struct symbols *symbols)
{
	const struct browse_request *current = &part->screen->current;
	const struct flame_options options = { .symbols = symbols, .event = *current->event ? current->event : NULL, .inlines = true };
	part->flame = browse_flame_open(&options, workers);
	part->flame_sink = flame_sink_of(part->flame);
}

const struct sink *browse_part_begin(struct browse_part *part, struct browse_screen *screen, const struct sink *sink,
	struct session *session, struct symbols *symbols)
{
	unsigned workers = session_workers(session);
	*part = (struct browse_part){ .sink = *sink, .passed = *sink };
	if (!screen || !screen->parts)
		return sink;
	part->screen = screen;
	free(screen->heats);
	screen->heats = memory_zero(workers, sizeof *screen->heats);
	screen->heat_count = workers;
	if (screen->current.flame && screen->flames && !sink->plain)
		open_flame(part, workers, symbols);
	part->passed.context = part;
	part->passed.batch_begin = sink->batch_begin || part->flame ? batch_begin : NULL;
	part->passed.record = sink->record ? record : NULL;
	part->passed.slice_end = sink->slice_end || part->flame ? slice_end : NULL;
	part->passed.batch_end = sink->batch_end || part->flame ? batch_end : NULL;
	part->passed.forget = sink->forget && !part->flame ? forget : NULL; /* the flame graph has places of its own to the end */
	part->passed.meanwhile = sink->meanwhile ? meanwhile : NULL;
	part->passed.wants_type = sink->wants_type ? wants_type : NULL;
	part->passed.ahead = sink->ahead ? ahead : NULL;
	part->passed.raw = sink->raw ? raw : NULL;
	part->passed.wants_event = sink->wants_event ? wants_event : NULL;
	return &part->passed;
}

void browse_part_end(struct browse_part *part, struct session *session)
{
	struct browse_screen *screen = part->screen;
	if (part->flame && !browse_screen_outdated(screen)) {
		snapshot_free(screen->flame);
		screen->flame = browse_flame_finish(part->flame, session, screen->current.event);
	}
	flame_sink_free(part->flame);
}
