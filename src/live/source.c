#include "live/source.h"

#include <string.h>

#include "base/memory.h"
#include "data/chain.h"
#include "record/acquire/records.h"

struct live_source {
	struct source base;
	struct acquisition *acquisition;
	struct chain chain;            /* records of the acquisition, from the first that was not returned */
	bool ended, stepwise;
};

static int store_record(void *context, const struct record *record, struct error *err)
{
	struct live_source *live = context;
	const struct chunk *last = live->chain.last;
	size_t size = record->body_len + RECORD_HEADER_SIZE, left = chain_left(&live->chain), room;
	/* records that were not returned move to a new chunk, twice as large: few records move, and none once it was returned */
	size_t want = left > size && last->capacity - last->len < size ? left : size;
	uint8_t *at = chain_room(&live->chain, want, &room);
	memcpy(at, record->body - RECORD_HEADER_SIZE, size);
	chain_filled(&live->chain, size);
	return 0;
}

static int live_next(struct source *source, struct record *record, struct error *err)
{
	struct live_source *live = (struct live_source *)source;
	const struct acquisition_callback callback = { store_record, live };
	while (!chain_left(&live->chain)) {
		if (live->ended || live->stepwise)
			return 0;
		int status = acquisition_step(live->acquisition, &callback, err);
		if (status < 0)
			return -1;
		live->ended = status == 0;
	}
	const uint8_t *at = chain_at(&live->chain);
	uint16_t size = record_size_at(at);
	*record = record_of(at, size);
	record->offset = source->mark;
	source->mark += size;
	source->counters.bytes_read += size;
	chain_take(&live->chain, size, source->mark);
	return 1;
}

static void live_release(struct source *source, uint64_t mark)
{
	chain_release(&((struct live_source *)source)->chain, mark);
}

static void live_close(struct source *source)
{
	struct live_source *live = (struct live_source *)source;
	chain_fini(&live->chain);
	header_fini(&source->header);
	free(live);
}

static const struct source_ops live_ops = { live_next, live_release, live_close };

static void copy_groups(const struct events *events, struct evlist *evlist)
{
	for (size_t i = 0; i < evlist->events.count && i < events->list.count; i++) {
		const struct event *event = &events->list.items[i];
		struct evsel *evsel = &evlist->events.items[i];
		evsel->leader = event->leader;
		evsel->group_members = event->members;
		evsel->group_name = event->group_name;
	}
}

static struct live_source *live_new(struct acquisition *acquisition)
{
	struct live_source *live = memory_zero(1, sizeof *live);
	live->base.ops = &live_ops;
	live->base.path = "-";
	live->base.header.pipe = true;
	live->acquisition = acquisition;
	acquisition_evlist(acquisition, &live->base.header.evlist);
	copy_groups(acquisition_measurement(acquisition)->events, &live->base.header.evlist);
	return live;
}

void source_open_live(struct source **source, struct acquisition *acquisition)
{
	*source = &live_new(acquisition)->base;
}

void source_open_stepwise(struct source **source, struct acquisition *acquisition)
{
	struct live_source *live = live_new(acquisition);
	live->stepwise = true;
	*source = &live->base;
}

int source_wait(struct source *source, int timeout_ms, uint32_t *ready, struct error *err)
{
	struct live_source *live = (struct live_source *)source;
	const struct acquisition_callback callback = { store_record, live };
	return acquisition_wait(live->acquisition, timeout_ms, ready, &callback, err);
}
