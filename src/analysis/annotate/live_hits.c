#include "analysis/annotate/live_hits.h"

#include <stdlib.h>

#include "base/memory.h"
#include "data/evlist.h"

enum { DECAY_PART = 7, DECAY_WHOLE = 8, BLOCKS_MAX = 200000 };

struct live_hit {
	uint32_t module;
	struct hit hit;
};

struct live_hits {
	struct hit_sink *sink;       /* since the last live_hits_settle */
	VEC(struct live_hit) items;
	struct idmap by_place;       /* hash → index; of equal hashes the later ones follow at hash + 1 … */
	struct blocks blocks;
};

struct live_hits *live_hits_new(const struct hit_options *options)
{
	struct live_hits *live = memory_zero(1, sizeof *live);
	live->sink = hit_sink_new(options, 1);
	return live;
}

void live_hits_free(struct live_hits *live)
{
	if (!live)
		return;
	live_hits_clear(live);
	hit_sink_free(live->sink);
	free(live);
}

void live_hits_add(struct live_hits *live, const struct resolved *r)
{
	hit_sink_add(live->sink, r);
}

static void add_count(void *context, uint32_t module, const struct hit *hit)
{
	struct live_hits *live = context;
	uint64_t key = hash_pair(hash_pair(module, hit->offset), hit->event);
	for (;; key++) {
		bool added;
		uint32_t index = idmap_add(&live->by_place, key, (uint32_t)live->items.count, &added);
		if (added) {
			vec_push(&live->items, ((struct live_hit){ module, *hit }));
			return;
		}
		struct live_hit *known = &live->items.items[index];
		if (known->module != module || known->hit.offset != hit->offset || known->hit.event != hit->event)
			continue;
		known->hit.count.samples += hit->count.samples;
		known->hit.count.period += hit->count.period;
		return;
	}
}

void live_hits_settle(struct live_hits *live)
{
	if (live->blocks.items.count > BLOCKS_MAX)
		blocks_fini(&live->blocks);
	hit_sink_drain(live->sink, add_count, live, &live->blocks);
}

void live_hits_decay(struct live_hits *live)
{
	live_hits_settle(live);
	struct live_hit *old = live->items.items;
	size_t count = live->items.count;
	live->items.items = NULL;
	live->items.count = live->items.capacity = 0;
	idmap_fini(&live->by_place);
	for (size_t i = 0; i < count; i++) {
		struct hit hit = old[i].hit;
		hit.count.samples = hit.count.samples * DECAY_PART / DECAY_WHOLE;
		hit.count.period = hit.count.period / DECAY_WHOLE * DECAY_PART + hit.count.period % DECAY_WHOLE * DECAY_PART / DECAY_WHOLE;
		if (hit.count.samples)
			add_count(live, old[i].module, &hit);
	}
	free(old);
}

static void forget(void *context, uint32_t module, const struct hit *hit)
{
}

void live_hits_clear(struct live_hits *live)
{
	hit_sink_drain(live->sink, forget, NULL, &live->blocks);
	vec_fini(&live->items);
	idmap_fini(&live->by_place);
	blocks_fini(&live->blocks);
}

static int by_offset(const void *left, const void *right)
{
	const struct hit *a = left, *b = right;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return a->event < b->event ? -1 : a->event > b->event;
}

void live_hits_of(struct live_hits *live, const struct session *session, struct symbols *symbols, uint32_t module, uint32_t symbol,
	struct hits *hits)
{
	const struct symbol *range = symbols_get(symbols, modules_get(&session->model.modules, module), symbol);
	live_hits_settle(live);
	*hits = (struct hits){ .event_count = session_evlist(session)->events.count };
	hits->events = memory_zero(hits->event_count, sizeof *hits->events);
	for (size_t event = 0; event < hits->event_count; event++)
		vec_push(&hits->totals, (struct hit_count){ 0 });
	for (size_t i = 0; i < live->items.count; i++) {
		const struct live_hit *item = &live->items.items[i];
		const struct hit *hit = &item->hit;
		bool inside = item->module == module && hit->offset >= range->start && hit->offset < range->end;
		if (hit->event >= hits->event_count)
			continue;
		hits->events[hit->event].samples += hit->count.samples;
		hits->events[hit->event].period += hit->count.period;
		if (!inside)
			continue;
		hits->totals.items[hit->event].samples += hit->count.samples;
		hits->totals.items[hit->event].period += hit->count.period;
		vec_push(&hits->hits, *hit);
	}
	if (hits->hits.count)
		qsort(hits->hits.items, hits->hits.count, sizeof *hits->hits.items, by_offset);
	vec_push(&hits->symbols, ((struct hit_symbol){ .module = module, .symbol = symbol, .hit_count = hits->hits.count }));
	idmap_set(&hits->by_symbol, (uint64_t)module << 32 | symbol, 0);
	for (size_t i = 0; i < live->blocks.items.count; i++)
		vec_push(&hits->blocks.items, live->blocks.items.items[i]);
	blocks_sort(&hits->blocks);
}
