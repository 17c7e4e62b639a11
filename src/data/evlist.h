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
	bool decoded;            /* its samples are made of a hardware trace, and are in no file: session/trace.h */
};

struct cpu_list {
	size_t count;
	int32_t *cpus; /* -1: any */
};

struct evlist {
	VEC(struct evsel) events;
	struct idmap by_id;
	struct arena arena;
	/* Position of the id in all events, in u64s: -1 if it differs or there is just one event. */
	int id_at, trailer_id_at;
	size_t cpu_entries; /* number of entries of all CPU lists */
};

void evlist_fini(struct evlist *evlist);
/* Appends an event, copies ids and name; returns its index. */
uint32_t evlist_add(struct evlist *evlist, const struct attr *attr, const uint64_t *ids, size_t id_count, const char *name);
void evlist_add_ids(struct evlist *evlist, uint32_t event, const uint64_t *ids, size_t id_count);

/* The event of a record in native order; UINT32_MAX if its id is unknown. With a single event always that one; a record without an id
 * belongs to the first event, as in perf. */
uint32_t evlist_event_of(const struct evlist *evlist, const struct record *record);
/* The time of a record in native order, without decoding it; UINT64_MAX: it has none, or its event is unknown. */
uint64_t evlist_time_of(const struct evlist *evlist, const struct record *record);
/* As evlist_event_of for a record whose body still has the opposite byte order. */
uint32_t evlist_event_of_swapped(const struct evlist *evlist, const struct record *record);
