#include "analysis/datatype/type_hits.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/search.h"

/* What qsort_r's comparisons need. */
struct ordering {
	const struct type_hits *list;
	const struct hits *hits;
	const struct hit_group *group;
	const struct modules *modules;
};

static int symbol_compare(const void *left, const void *right, void *context)
{
	const struct ordering *o = context;
	const struct hit_symbol *a = &o->hits->symbols.items[*(const uint32_t *)left], *b = &o->hits->symbols.items[*(const uint32_t *)right];
	int names = strcmp(modules_get(o->modules, a->module)->short_name, modules_get(o->modules, b->module)->short_name);
	if (names || a->module != b->module)
		return names ? names : a->module < b->module ? -1 : 1;
	uint64_t x = a->hit_count ? o->hits->hits.items[a->first].offset : 0, y = b->hit_count ? o->hits->hits.items[b->first].offset : 0;
	return x < y ? -1 : x > y;
}

static void add_count(struct hit_count *sum, const struct hit_count *count)
{
	sum->samples += count->samples;
	sum->period += count->period;
}

static void add_hit(struct type_hits *list, struct idmap *known, const struct data_access *access, const struct hit *hit)
{
	bool added;
	uint32_t index = idmap_add(known, access->type, (uint32_t)list->sums.count, &added);
	if (added)
		vec_push(&list->sums, ((struct type_sum){ .type = access->type,
			.totals = memory_zero(list->event_count, sizeof(struct hit_count)),
			.inside = memory_zero(list->event_count, sizeof(struct hit_count)) }));
	struct type_sum *sum = &list->sums.items[index];
	add_count(&sum->totals[hit->event], &hit->count);
	if ((uint64_t)access->offset >= data_types_get(list->types, access->type)->size)
		return;
	add_count(&sum->inside[hit->event], &hit->count);
	vec_push(&sum->hits, ((struct type_hit){ (uint64_t)access->offset, hit->event, hit->count }));
}

static int hit_compare(const void *left, const void *right)
{
	const struct type_hit *a = left, *b = right;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return a->event < b->event ? -1 : a->event > b->event;
}

void type_hits_make(struct type_hits *list, const struct hits *hits, const struct modules *modules, struct symbols *symbols,
	struct data_types *types)
{
	struct ordering ordering = { .hits = hits, .modules = modules };
	struct idmap known = { 0 };
	*list = (struct type_hits){ .types = types, .event_count = hits->event_count };
	uint32_t *order = memory_zero(hits->symbols.count + 1, sizeof *order);
	for (uint32_t i = 0; i < hits->symbols.count; i++)
		order[i] = i;
	qsort_r(order, hits->symbols.count, sizeof *order, symbol_compare, &ordering);
	for (uint32_t event = 0; event < hits->event_count; event++) {
		for (size_t i = 0; i < hits->symbols.count; i++) {
			const struct hit_symbol *symbol = &hits->symbols.items[order[i]];
			for (size_t k = 0; k < symbol->hit_count; k++) {
				const struct hit *hit = &hits->hits.items[symbol->first + k];
				if (hit->event != event)
					continue;
				struct data_access access = data_types_find(types, symbol->module, symbol->symbol, hit->offset);
				add_hit(list, &known, &access, hit);
			}
		}
		for (uint64_t i = 0; i < hits->unresolved_places[event]; i++)
			data_types_find(types, 0, 0, 0);
	}
	for (size_t i = 0; i < list->sums.count; i++)
		if (list->sums.items[i].hits.count)
			qsort(list->sums.items[i].hits.items, list->sums.items[i].hits.count, sizeof(struct type_hit), hit_compare);
	idmap_fini(&known);
	free(order);
}

void type_hits_fini(struct type_hits *list)
{
	for (size_t i = 0; i < list->sums.count; i++) {
		vec_fini(&list->sums.items[i].hits);
		free(list->sums.items[i].totals);
		free(list->sums.items[i].inside);
	}
	vec_fini(&list->sums);
}

struct hit_count type_sum_range(const struct type_sum *sum, uint32_t event, uint64_t offset, uint64_t size)
{
	struct hit_count count = { 0 };
	size_t low = SEARCH_COUNT(sum->hits.count, i, sum->hits.items[i].offset < offset);
	for (; low < sum->hits.count && sum->hits.items[low].offset - offset < size; low++)
		if (sum->hits.items[low].event == event)
			add_count(&count, &sum->hits.items[low].count);
	return count;
}

static int order_compare(const void *left, const void *right, void *context)
{
	const struct ordering *o = context;
	const struct type_sum *a = &o->list->sums.items[*(const uint32_t *)left], *b = &o->list->sums.items[*(const uint32_t *)right];
	for (size_t i = 0; i < o->group->members.count; i++) {
		uint64_t x = a->totals[o->group->members.items[i]].period, y = b->totals[o->group->members.items[i]].period;
		if (x != y)
			return x > y ? -1 : 1;
	}
	const struct data_type *x = data_types_get(o->list->types, a->type), *y = data_types_get(o->list->types, b->type);
	int names = strcmp(modules_get(o->modules, x->module)->short_name, modules_get(o->modules, y->module)->short_name);
	if (!names)
		names = strcmp(y->name, x->name); /* perf's order */
	return names ? names : a->type < b->type ? -1 : a->type > b->type;
}

/* A name without "struct " fits a type with it. */
static bool name_matches(const char *wanted, const char *name)
{
	static const char *const words[] = { "struct ", "union " };
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t len = strlen(words[i]);
		if (strncmp(wanted, words[i], len) != 0 && strncmp(name, words[i], len) == 0)
			name += len;
	}
	return strcmp(wanted, name) == 0;
}

size_t type_order_make(const struct type_hits *list, const struct hits *hits, const struct hit_group *group, double least, const char *name,
	const struct modules *modules, uint32_t **order)
{
	struct ordering ordering = { list, hits, group, modules };
	size_t count = 0;
	uint64_t whole = hits->events[group->leader].period;
	*order = memory_zero(list->sums.count + 1, sizeof **order);
	for (uint32_t i = 0; i < list->sums.count; i++) {
		const struct type_sum *sum = &list->sums.items[i];
		const struct data_type *type = data_types_get(list->types, sum->type);
		uint64_t samples = 0;
		for (size_t k = 0; k < group->members.count; k++)
			samples += sum->totals[group->members.items[k]].samples;
		float percent = whole ? (float)(100.0 * (double)sum->totals[group->leader].period / (double)whole) : 0;
		if (samples && sum->type >= DATA_TYPES_FIXED && (least == 0 || percent >= (float)least) && (!name || name_matches(name, type->name)))
			(*order)[count++] = i;
	}
	qsort_r(*order, count, sizeof **order, order_compare, &ordering);
	return count;
}
