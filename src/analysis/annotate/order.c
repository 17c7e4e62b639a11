#include "analysis/annotate/order.h"

#include <stdlib.h>

#include "base/memory.h"
#include "data/evlist.h"

void hit_groups_make(struct hit_groups *list, const struct evlist *evlist, bool groups, bool force)
{
	*list = (struct hit_groups){ 0 };
	CLEANUP_FREE uint32_t *group_of = memory_zero(evlist->events.count, sizeof *group_of); /* by leader: index + 1 */
	bool has_groups = false;
	for (size_t i = 0; i < evlist->events.count; i++)
		has_groups |= evlist->events.items[i].group_members > 1;
	for (uint32_t i = 0; i < evlist->events.count; i++) {
		uint32_t leader = !groups ? i : force && !has_groups ? 0 : evlist->events.items[i].leader;
		if (leader >= evlist->events.count || !group_of[leader]) {
			*vec_add(&list->groups) = (struct hit_group){ .leader = i, .named = has_groups };
			group_of[i] = (uint32_t)list->groups.count;
			leader = i;
		}
		vec_push(&list->groups.items[group_of[leader] - 1].members, i);
	}
}

void hit_groups_fini(struct hit_groups *list)
{
	for (size_t i = 0; i < list->groups.count; i++)
		vec_fini(&list->groups.items[i].members);
	vec_fini(&list->groups);
}

/* What qsort_r's comparison needs. */
struct ordering {
	const struct hits *hits;
	const struct hit_group *group;
	const struct modules *modules;
	struct symbols *symbols;
};

static int order_compare(const void *left, const void *right, void *context)
{
	const struct ordering *o = context;
	const struct hit_symbol *a = &o->hits->symbols.items[*(const uint32_t *)left];
	const struct hit_symbol *b = &o->hits->symbols.items[*(const uint32_t *)right];
	for (size_t i = 0; i < o->group->members.count; i++) {
		uint64_t x = hits_totals(o->hits, a)[o->group->members.items[i]].period;
		uint64_t y = hits_totals(o->hits, b)[o->group->members.items[i]].period;
		if (x != y)
			return x > y ? -1 : 1;
	}
	const struct module *m = modules_get(o->modules, a->module), *n = modules_get(o->modules, b->module);
	int names = strcmp(m->short_name, n->short_name);
	if (!names)
		names = strcmp(symbols_name(o->symbols, m, a->symbol), symbols_name(o->symbols, n, b->symbol));
	if (names)
		return names;
	uint64_t x = symbols_get(o->symbols, m, a->symbol)->start, y = symbols_get(o->symbols, n, b->symbol)->start;
	return m->id != n->id ? (m->id < n->id ? -1 : 1) : x < y ? -1 : x > y;
}

size_t hit_order_make(const struct hits *hits, const struct hit_group *group, double least, bool of_them, const struct modules *modules,
	struct symbols *symbols, uint32_t **order)
{
	struct ordering ordering = { hits, group, modules, symbols };
	size_t count = 0;
	uint64_t whole = 0;
	*order = memory_zero(hits->symbols.count + 1, sizeof **order);
	for (uint32_t i = 0; i < hits->symbols.count; i++) {
		const struct hit_symbol *symbol = &hits->symbols.items[i];
		uint64_t samples = 0;
		for (size_t k = 0; k < group->members.count; k++)
			samples += hits_totals(hits, symbol)[group->members.items[k]].samples;
		if (!samples)
			continue;
		whole += hits_totals(hits, symbol)[group->leader].period;
		(*order)[count++] = i;
	}
	if (!of_them && group->leader < hits->event_count)
		whole = hits->events[group->leader].period;
	size_t shown = 0;
	for (size_t i = 0; i < count; i++) {
		const struct hit_symbol *symbol = &hits->symbols.items[(*order)[i]];
		float percent = whole ? (float)(100.0 * (double)hits_totals(hits, symbol)[group->leader].period / (double)whole) : 0;
		if (percent >= (float)least || least == 0)
			(*order)[shown++] = (*order)[i];
	}
	qsort_r(*order, shown, sizeof **order, order_compare, &ordering);
	return shown;
}
