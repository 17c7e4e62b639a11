#include "data/evlist.h"

#define U64_BYTES sizeof(uint64_t)

void evlist_fini(struct evlist *evlist)
{
	vec_fini(&evlist->events);
	idmap_fini(&evlist->by_id);
	vec_fini(&evlist->near.events);
	vec_fini(&evlist->far.events);
	arena_fini(&evlist->arena);
	evlist->id_at = evlist->trailer_id_at = -1;
}

/* Ids can be looked up only if all events store them at the same position. */
static void evlist_place_ids(struct evlist *evlist)
{
	size_t count = evlist->events.count;
	const struct sample_layout *first = &evlist->events.items[0].layout, *last = &evlist->events.items[count - 1].layout;
	if (count <= 2) {
		evlist->id_at = count == 2 ? first->id_at : -1;
		evlist->trailer_id_at = count == 2 && first->trailer_id_at ? first->trailer_id_at : -1;
	}
	if (last->id_at != first->id_at)
		evlist->id_at = -1;
	if (last->trailer_id_at != first->trailer_id_at)
		evlist->trailer_id_at = -1;
}

uint32_t evlist_add(struct evlist *evlist, const struct attr *attr, const uint64_t *ids, size_t id_count, const char *name)
{
	uint32_t index = (uint32_t)evlist->events.count;
	struct evsel *evsel = vec_add(&evlist->events);
	evsel->attr = *attr;
	sample_layout_init(&evsel->layout, attr);
	evsel->name = name ? arena_string(&evlist->arena, name, strlen(name)) : NULL;
	evsel->scale = 1;
	evsel->leader = index;
	evsel->group_members = 1;
	evlist_add_ids(evlist, index, ids, id_count);
	evlist_place_ids(evlist);
	return index;
}

/* False: the id is too far from the first one. */
static bool id_range_set(struct id_range *range, uint64_t id, uint32_t event)
{
	enum { RANGE_MAX = 1 << 14 };
	if (!range->events.count)
		range->base = id;
	uint64_t at = id - range->base;
	if (at >= RANGE_MAX)
		return false;
	while (range->events.count <= at)
		vec_push(&range->events, UINT32_MAX);
	range->events.items[at] = event;
	return true;
}

void evlist_add_ids(struct evlist *evlist, uint32_t event, const uint64_t *ids, size_t id_count)
{
	struct evsel *evsel = &evlist->events.items[event];
	if (!id_count)
		return;
	uint64_t *all = arena_alloc(&evlist->arena, (evsel->id_count + id_count) * sizeof *all);
	if (evsel->id_count)
		memcpy(all, evsel->ids, evsel->id_count * sizeof *all);
	memcpy(all + evsel->id_count, ids, id_count * sizeof *all);
	for (size_t i = 0; i < id_count; i++) {
		idmap_set(&evlist->by_id, ids[i], event);
		if (!id_range_set(&evlist->near, ids[i], event))
			id_range_set(&evlist->far, ids[i], event);
	}
	evsel->ids = all;
	evsel->id_count += id_count;
}

static inline uint32_t event_of(const struct evlist *evlist, const struct record *record, bool swap)
{
	size_t words = record->body_len / U64_BYTES, at;
	if (evlist->events.count <= 1)
		return evlist->events.count ? 0 : UINT32_MAX;
	if (record->type == RECORD_SAMPLE) {
		if (evlist->id_at < 0)
			return 0;
		at = (size_t)evlist->id_at * U64_BYTES;
		if (at / U64_BYTES >= words)
			return UINT32_MAX;
	} else {
		if (evlist->trailer_id_at < 0 || record->type >= RECORD_USER_TYPE_START)
			return 0;
		if ((size_t)evlist->trailer_id_at > words)
			return UINT32_MAX;
		at = record->body_len - (size_t)evlist->trailer_id_at * U64_BYTES;
	}
	uint64_t id = load_u64(record->body + at);
	if (!id)
		return 0; /* a record that the recorder made */
	id = swap ? __builtin_bswap64(id) : id;
	uint32_t event = id_range_get(&evlist->near, id);
	if (event == UINT32_MAX)
		event = id_range_get(&evlist->far, id);
	return event != UINT32_MAX ? event : idmap_get(&evlist->by_id, id);
}

uint32_t evlist_event_of(const struct evlist *evlist, const struct record *record)
{
	return event_of(evlist, record, false);
}

uint32_t evlist_event_of_swapped(const struct evlist *evlist, const struct record *record)
{
	return event_of(evlist, record, true);
}

uint64_t evlist_time_of(const struct evlist *evlist, const struct record *record)
{
	uint32_t event = evlist_event_of(evlist, record);
	if (event == UINT32_MAX)
		return UINT64_MAX;
	const struct sample_layout *layout = &evlist->events.items[event].layout;
	return record->type == RECORD_SAMPLE ? record_time_from_front(record, layout->time_at)
					     : record_time_from_back(record, layout->trailer_time_at);
}
