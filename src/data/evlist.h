/* The events of a recording: their attributes, ids and names, and the look-up of a record's event. */
#pragma once
#include "abi/attr.h"
#include "abi/sample.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"

struct evsel {
	struct attr attr;
	struct sample_layout layout;
	const char *name;        /* from EVENT_DESC, EVENT_UPDATE or the old EVENT_TYPE table; NULL if absent */
	const char *unit;        /* EVENT_UPDATE; NULL */
	double scale;            /* EVENT_UPDATE; 1 */
	const uint64_t *ids;
	size_t id_count;
	const struct cpu_list *cpus; /* EVENT_UPDATE; NULL */
	uint32_t leader;         /* index of the group's leader; its own index if not in a group */
	uint32_t group_members;  /* of a leader: members including itself (1: no group); of others: 0 */
	const char *group_name;  /* NULL */
	const struct sample_layout *recorded; /* of its records in the file, where `layout` has additions; NULL: layout */
	bool decoded;            /* its samples are made of a hardware trace, and are in no file: session/trace.h */
};

struct cpu_list {
	size_t count;
	int32_t *cpus; /* -1: any */
};

/* The events of the ids from `base` on, as kernels number ids in sequence; UINT32_MAX: no event has this id. */
struct id_range {
	VEC(uint32_t) events;
	uint64_t base;
};

static inline uint32_t id_range_get(const struct id_range *range, uint64_t id)
{
	uint64_t at = id - range->base;
	return at < range->events.count ? range->events.items[at] : UINT32_MAX;
}

struct evlist {
	VEC(struct evsel) events;
	struct idmap by_id;
	struct id_range near, far; /* of the kernel; of events that decoders add */
	struct arena arena;
	/* Position of the id in all events, in u64s: -1 if it differs or there is just one event. */
	int id_at, trailer_id_at;
	size_t cpu_entries; /* number of entries of all CPU lists */
	uint32_t renamed;   /* how many records gave an event another name */
};

void evlist_fini(struct evlist *evlist);
/* Appends an event, copies ids and name; returns its index. */
uint32_t evlist_add(struct evlist *evlist, const struct attr *attr, const uint64_t *ids, size_t id_count, const char *name);
void evlist_add_ids(struct evlist *evlist, uint32_t event, const uint64_t *ids, size_t id_count);

/* The event of a record in native order; UINT32_MAX if its id is unknown. With a single event always that one; a record without an id
 * belongs to the first event, as in perf. */
uint32_t evlist_event_of(const struct evlist *evlist, const struct record *record);
/* The same for a sample, where most ids are near each other. */
static inline uint32_t evlist_event_of_sample(const struct evlist *evlist, const struct record *record)
{
	size_t at = (size_t)evlist->id_at * sizeof(uint64_t); /* of -1: beyond any record */
	if (at < record->body_len && at + sizeof(uint64_t) <= record->body_len) {
		uint64_t id = load_u64(record->body + at);
		uint32_t event = id ? id_range_get(&evlist->near, id) : UINT32_MAX;
		if (event != UINT32_MAX)
			return event;
	}
	return evlist_event_of(evlist, record);
}
/* The time of a record in native order, without decoding it; UINT64_MAX: it has none, or its event is unknown. */
uint64_t evlist_time_of(const struct evlist *evlist, const struct record *record);
/* As evlist_event_of for a record whose body still has the opposite byte order. */
uint32_t evlist_event_of_swapped(const struct evlist *evlist, const struct record *record);
