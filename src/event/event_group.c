#include "event/event_group.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* An event with what decides its place. */
struct member {
	struct event event;
	struct pmu *own;
	const char *pmu;          /* whose group it can be in */
	size_t index, leader;     /* in the user's order */
	size_t place;             /* of its group, or of itself */
	bool grouped, topdown;
};

struct grouping {
	struct events *events;
	struct member *items;
	size_t count;
	bool has_slots;           /* the first core PMU has Intel's topdown events */
	size_t first_topdown;     /* the first of those outside of a group; SIZE_MAX: absent */
};

static struct pmu *pmu_of(struct events *events, const struct event *event)
{
	struct pmus *pmus = &events->pmus;
	struct pmu *pmu = NULL;
	pmus_read(pmus);
	for (size_t i = 0; i < pmus->list.count && event->pmu && !pmu; i++)
		if (strcmp(pmus->list.items[i]->name, event->pmu) == 0)
			pmu = pmus->list.items[i];
	if (!pmu)
		pmu = pmus_by_type(pmus, event->attr.type);
	if (!pmu)
		pmu = pmus->list.items[0];
	pmu_load(pmus, pmu);
	return pmu;
}

/* Software events can be in the group of any PMU: of the leader's, else of the first other event's. */
static void find_group_pmus(struct grouping *g)
{
	struct pmu **of_group = memory_zero(g->count, sizeof *of_group); /* by leader: the PMU of the first event that is no software */
	for (size_t i = 0; i < g->count; i++)
		g->items[i].own = pmu_of(g->events, &g->items[i].event);
	for (size_t i = 0; i < g->count; i++) {
		size_t leader = g->items[i].leader;
		if (!pmu_is_software(g->items[leader].own))
			of_group[leader] = g->items[leader].own;
		else if (!of_group[leader] && !pmu_is_software(g->items[i].own))
			of_group[leader] = g->items[i].own;
	}
	for (size_t i = 0; i < g->count; i++) {
		struct member *m = &g->items[i];
		bool joins = pmu_is_software(m->own) || pmu_traces(g->items[m->leader].own);
		m->pmu = joins && of_group[m->leader] ? of_group[m->leader]->name : m->own->name;
	}
	free(of_group);
}

static bool is_slots(const struct event *event)
{
	return strcasestr(event->name, "slots") && !strcasestr(event->name, "uops_retired.slots");
}

static bool is_topdown(const struct event *event)
{
	return strcasestr(event->name, "topdown") != NULL;
}

static bool needs_slots(const struct grouping *g, const struct event *event)
{
	return g->has_slots && event->attr.type == ATTR_RAW && (is_slots(event) || (is_topdown(event) && !strcasestr(event->name,
		"uops_retired.slots")));
}

static int compare(const void *left, const void *right, void *context)
{
	const struct member *a = left, *b = right;
	const struct grouping *g = context;
	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	int order = a->grouped && b->grouped ? strcmp(a->pmu, b->pmu) : 0;
	if (order)
		return order;
	if (g->has_slots && (a->topdown || b->topdown)) {
		if (is_slots(&a->event) != is_slots(&b->event))
			return is_slots(&a->event) ? -1 : 1;
		if (is_topdown(&a->event) != is_topdown(&b->event))
			return is_topdown(&a->event) ? -1 : 1;
	}
	if (a->event.retire_latency != b->event.retire_latency) /* cannot lead a group */
		return a->event.retire_latency ? 1 : -1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static void place_members(struct grouping *g)
{
	g->first_topdown = SIZE_MAX;
	for (size_t i = 0; i < g->count; i++) {
		g->items[i].topdown = needs_slots(g, &g->items[i].event);
		if (g->items[i].topdown && !g->items[i].grouped && g->first_topdown == SIZE_MAX)
			g->first_topdown = i;
	}
	for (size_t i = 0; i < g->count; i++) {
		struct member *m = &g->items[i];
		m->place = m->grouped ? m->leader : m->topdown ? g->first_topdown : i;
	}
}

/* Gives the sorted events their leaders. */
static void lead(struct grouping *g, size_t first)
{
	struct events *events = g->events;
	size_t leader = 0, old_leaders = 0, new_leaders = 0;
	bool forced = false;
	for (size_t i = 0; i < g->count; i++)
		old_leaders += g->items[i].leader == g->items[i].index;
	for (size_t i = 0; i < g->count; i++) {
		const struct member *m = &g->items[i];
		bool mine = m->topdown && g->first_topdown != SIZE_MAX;
		if (i == 0 || (g->items[leader].leader != m->leader && !(mine && forced)) || strcmp(g->items[leader].pmu, m->pmu) != 0) {
			leader = i;
			forced = mine;
			new_leaders++;
		}
		struct event *event = &events->list.items[first + i];
		events->regrouped |= m->index != i;
		*event = m->event;
		event->leader = (uint32_t)(first + leader);
		event->members = 0;
		events->list.items[first + leader].members++;
	}
	events->regrouped |= old_leaders != new_leaders;
	for (size_t i = 0; i < g->count; i++) {
		struct event *event = &events->list.items[first + i];
		event->members = event->members == 1 ? 0 : event->members;
		event->group_name = event->members ? event->group_name : NULL;
	}
}

/* Whether an event is in a group or must get into one; all others remain as they are. */
static bool is_concerned(const struct events *events, size_t index, bool has_slots)
{
	const struct event *event = &events->list.items[index];
	return event->leader != index || event->members > 1 || (has_slots && (is_topdown(event) || is_slots(event)));
}

void events_regroup(struct events *events, size_t first)
{
	struct pmu *core = pmus_by_type(&events->pmus, ATTR_RAW);
	struct grouping g = { .events = events, .count = events->list.count - first };
	bool any = false;
	g.has_slots = core && pmu_kernel_event(&events->pmus, core, "slots");
	for (size_t i = first; i < events->list.count; i++)
		any |= is_concerned(events, i, g.has_slots);
	if (!any)
		return;
	g.items = memory_zero(g.count, sizeof *g.items);
	for (size_t i = 0; i < g.count; i++) {
		const struct event *event = &events->list.items[first + i];
		g.items[i] = (struct member){ .event = *event, .index = i, .leader = event->leader - first };
		g.items[i].grouped = event->leader != first + i || event->members > 1;
	}
	find_group_pmus(&g);
	place_members(&g);
	qsort_r(g.items, g.count, sizeof *g.items, compare, &g);
	lead(&g, first);
	free(g.items);
}

void events_join(struct events *events, uint32_t leader, uint32_t last)
{
	struct event *list = events->list.items;
	if (list[leader].leader != leader)
		return;
	for (uint32_t i = leader + 1; i <= last; i++)
		if (list[i].leader != leader && (list[i].leader != i || list[i].members > 1))
			return;
	for (uint32_t i = leader + 1; i <= last; i++) {
		if (list[i].leader == leader)
			continue;
		list[i].leader = leader;
		list[i].members = 0;
		list[leader].members = (list[leader].members ? list[leader].members : 1) + 1;
	}
}

void events_to_front(struct events *events, uint32_t index)
{
	struct event *list = events->list.items;
	size_t count = events->list.count, next = 0;
	uint32_t leader = list[index].leader;
	struct event *old = memory_zero(count, sizeof *old);
	uint32_t *place = memory_zero(count, sizeof *place);
	memcpy(old, list, count * sizeof *old);
	for (int others = 0; others < 2; others++) {
		for (size_t i = 0; i < count; i++) {
			if ((old[i].leader != leader) != others)
				continue;
			place[i] = (uint32_t)next;
			list[next++] = old[i];
		}
	}
	for (size_t i = 0; i < count; i++)
		list[i].leader = place[list[i].leader];
	free(place);
	free(old);
}
