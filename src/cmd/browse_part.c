#include "cmd/browse_part.h"

#include <stdlib.h>

#include "base/memory.h"
#include "cmd/browse_screen.h"

static void batch_begin(void *context, struct session *session, size_t slices)
{
	const struct browse_part *part = context;
	part->sink.batch_begin(part->sink.context, session, slices);
}

static void record(void *context, const struct resolved *r, size_t slice)
{
	const struct browse_part *part = context;
	const struct browse_screen *screen = part->screen;
	uint64_t time = r->sample->time;
	if (r->record->type == RECORD_SAMPLE && time != UINT64_MAX && time) {
		heat_add(&screen->heats[r->worker ? worker_index(r->worker) : 0], time);
		if (time < screen->current.start_ns || time > screen->current.end_ns)
			return;
	}
	part->sink.record(part->sink.context, r, slice);
}

static void slice_end(void *context, const struct worker *worker, size_t slice)
{
	const struct browse_part *part = context;
	part->sink.slice_end(part->sink.context, worker, slice);
}

static void batch_end(void *context, struct session *session, size_t slices)
{
	const struct browse_part *part = context;
	part->sink.batch_end(part->sink.context, session, slices);
}

static void forget(void *context, unsigned worker)
{
	const struct browse_part *part = context;
	part->sink.forget(part->sink.context, worker);
}

static size_t ahead(void *context)
{
	const struct browse_part *part = context;
	return part->sink.ahead(part->sink.context);
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

const struct sink *browse_part_of(struct browse_part *part, struct browse_screen *screen, const struct sink *sink, unsigned workers)
{
	if (!screen || !screen->parts)
		return sink;
	free(screen->heats);
	screen->heats = memory_zero(workers, sizeof *screen->heats);
	screen->heat_count = workers;
	*part = (struct browse_part){ .screen = screen, .sink = *sink, .passed = *sink };
	part->passed.context = part;
	part->passed.batch_begin = sink->batch_begin ? batch_begin : NULL;
	part->passed.record = sink->record ? record : NULL;
	part->passed.slice_end = sink->slice_end ? slice_end : NULL;
	part->passed.batch_end = sink->batch_end ? batch_end : NULL;
	part->passed.forget = sink->forget ? forget : NULL;
	part->passed.ahead = sink->ahead ? ahead : NULL;
	part->passed.raw = sink->raw ? raw : NULL;
	part->passed.wants_event = sink->wants_event ? wants_event : NULL;
	return &part->passed;
}
