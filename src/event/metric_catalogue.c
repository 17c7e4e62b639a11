#include "event/metric_catalogue.h"

#include <stdlib.h>
#include <string.h>

#include "event/metric_plan.h"
#include "event/own_metrics.h"

static const char *describe(const struct vendor *v, const char *group)
{
	for (size_t i = 0; i < v->groups.count; i++)
		if (strcmp(v->groups.items[i].name, group) == 0)
			return v->groups.items[i].description;
	return NULL;
}

static int compare(const void *a, const void *b)
{
	const struct metric_entry *left = a, *right = b;
	int order = strcmp(left->group, right->group);
	return order ? order : strcmp(left->metric->name, right->metric->name);
}

static void add_metric(struct metric_entries *entries, struct catalogue *c, const struct metric *metric)
{
	const char *at = metric->groups && *metric->groups ? metric->groups : metric->name;
	while (*at) {
		size_t length = strcspn(at, ";");
		const char *group = arena_string(&c->arena, at, length);
		if (length)
			vec_push(&entries->list, ((struct metric_entry){ group, describe(&c->pmus.vendor, group), metric }));
		at += length + (at[length] == ';');
	}
}

static bool is_countable(struct events *events, const struct metric *metric)
{
	size_t before = events->list.count;
	bool countable = metric_plan_events(events, metric) == 0;
	for (size_t i = before; i < events->list.count && countable; i++) {
		const struct attr *attr = &events->list.items[i].attr;
		countable = (attr->type != ATTR_HARDWARE && attr->type != ATTR_HW_CACHE) || catalogue_supports(attr->type, attr->config);
	}
	events->list.count = before;
	return countable;
}

void metric_entries_make(struct metric_entries *entries, struct catalogue *c)
{
	struct events events = { .pmus.root = c->pmus.root };
	vendor_read(&c->pmus.vendor);
	for (size_t i = 0; i < c->pmus.vendor.metrics.count; i++)
		add_metric(entries, c, &c->pmus.vendor.metrics.items[i]);
	for (const struct metric *own = own_metrics; own->name; own++)
		if (!metric_is_hidden(&c->pmus, own) && is_countable(&events, own))
			add_metric(entries, c, own);
	events_fini(&events);
	if (entries->list.count)
		qsort(entries->list.items, entries->list.count, sizeof entries->list.items[0], compare);
}

void metric_entries_fini(struct metric_entries *entries)
{
	vec_fini(&entries->list);
}
