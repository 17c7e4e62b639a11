/* The order in which annotations are shown: by event group, then by period, then by the names of module and symbol, as perf orders the rows
 * of a report by dso and symbol. */
#pragma once
#include "analysis/annotate/hits.h"

/* The events that are shown side by side. */
struct hit_group {
	uint32_t leader;
	VEC(uint32_t) members;     /* with the leader, in order */
	bool named;                /* a group of the recording: it is shown as "anon group { … }" */
};

struct hit_groups {
	VEC(struct hit_group) groups;
};

/* groups: events of a group are shown side by side; force: all events, if the recording has no group. */
void hit_groups_make(struct hit_groups *list, const struct evlist *evlist, bool groups, bool force);
void hit_groups_fini(struct hit_groups *list);

/* The indexes in hits->symbols of the symbols that have samples of a member, in order, without those below `least` percent of the leader's
 * period: of that of all samples, or (of_them) of the samples of these symbols. The caller frees *order. Returns their number. */
size_t hit_order_make(const struct hits *hits, const struct hit_group *group, double least, bool of_them, const struct modules *modules,
	struct symbols *symbols, uint32_t **order);
