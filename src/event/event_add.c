#include "event/event_add.h"

#include <stdio.h>
#include <string.h>

#include "event/event_names.h"
#include "event/event_nearest.h"
#include "event/intel_pt.h"
#include "event/event_pfm.h"

static struct event *event_new(const struct event_adding *a, struct pmu *pmu, uint32_t type, uint64_t config)
{
	struct event *event = vec_add(&a->events->list);
	event->scale = 1;
	event->leader = (uint32_t)(a->events->list.count - 1);
	event->attr.type = type;
	event->attr.config = config;
	event->attr.flags = (uint64_t)1 << ATTR_EXCLUDE_GUEST;
	event->pmu = pmu ? pmu->name : NULL;
	event->cpus = pmu && pmu->cpus.list.count ? &pmu->cpus : NULL;
	return event;
}

static int add_number(const struct event_adding *a, struct pmu *pmu, uint32_t type, uint64_t config)
{
	struct event *event = event_new(a, pmu, type, config);
	return event_terms_apply(a->events, event, NULL, a->terms, TERMS_OF_NUMBER, a->err);
}

int event_add_number(const struct event_adding *a, uint32_t type, uint64_t config)
{
	return add_number(a, pmus_by_type(&a->events->pmus, type), type, config);
}

/* A generic event of the processor: where there are several kinds of cores, one for each kind, whose type is in the upper half of the
 * config word. */
static int add_core_events(const struct event_adding *a, uint32_t type, uint64_t config)
{
	struct pmus *pmus = &a->events->pmus;
	size_t cores = pmus_core_count(pmus);
	for (size_t i = 0; i < cores; i++) {
		struct pmu *pmu = pmus->list.items[i];
		pmu_load(pmus, pmu);
		if (add_number(a, pmu, type, config | (cores > 1 ? (uint64_t)pmu->type << 32 : 0)) < 0)
			return -1;
		if (cores == 1)
			a->events->list.items[a->events->list.count - 1].cpus = NULL;
	}
	return 0;
}

int event_add_symbol(const struct event_adding *a, const struct event_symbol *symbol)
{
	if (symbol->type == ATTR_HARDWARE)
		return add_core_events(a, ATTR_HARDWARE, symbol->config);
	if (symbol->type != EVENT_TYPE_TOOL && event_add_number(a, symbol->type, symbol->config) < 0)
		return -1;
	if (symbol->type == EVENT_TYPE_TOOL)
		event_new(a, NULL, EVENT_TYPE_TOOL, symbol->config);
	struct event *event = &a->events->list.items[a->events->list.count - 1];
	event->pmu = symbol->type == EVENT_TYPE_TOOL ? "tool" : "software";
	event->unit = symbol->unit;
	event->scale = symbol->scale != 0 ? symbol->scale : 1;
	return 0;
}

int event_add_cache(const struct event_adding *a, const char *name)
{
	uint64_t config;
	if (event_cache_find(name, strlen(name), &config) != 1)
		return event_error_at(a->err, a->at, "this cache has no such operation");
	size_t first = a->events->list.count;
	if (add_core_events(a, ATTR_HW_CACHE, config) < 0)
		return -1;
	for (size_t i = first; i < a->events->list.count; i++) {
		struct event *event = &a->events->list.items[i];
		if (!(event->terms.set & EVENT_TERM_NAME)) {
			event->name = name;
			event->terms.set |= EVENT_TERM_NAME; /* like perf: without modifiers */
		}
	}
	return 0;
}

int event_add_breakpoint(const struct event_adding *a, uint64_t address, uint64_t length, uint32_t access)
{
	struct event *event = event_new(a, NULL, ATTR_BREAKPOINT, 0);
	event->pmu = "breakpoint";
	event->terms.period = 1;
	event->attr.config1 = address;
	event->attr.bp_type = access ? access : 3;
	event->attr.config2 = length ? length : event->attr.bp_type == 4 ? sizeof(long) : 4;
	return event_terms_apply(a->events, event, NULL, a->terms, TERMS_OF_NUMBER, a->err);
}

/* Adds "pmu/terms/"; nothing is added if it fails. */
static int add_of_pmu(const struct event_adding *a, struct pmu *pmu, const struct event_term_list *terms)
{
	struct event *event = event_new(a, pmu, pmu->type, intel_pt_default_config(pmu));
	event->traces = pmu_traces(pmu);
	if (event_terms_apply(a->events, event, pmu, terms, TERMS_OF_PMU, a->err) == 0)
		return 0;
	a->events->list.count--;
	return -1;
}

/* Adds the event to all PMUs that have it. Returns how many. *known: some PMU has it, and *a->err says what is wrong with its terms. */
static size_t add_named(const struct event_adding *a, const char *name, bool *known)
{
	struct pmus *pmus = &a->events->pmus;
	struct event_term_list terms = { 0 };
	size_t added = 0;
	for (size_t i = 0; i < a->terms->terms.count; i++)
		vec_push(&terms.terms, a->terms->terms.items[i]);
	struct event_term term = { .kind = TERM_OF_PMU, .name = name, .number = 1, .no_value = true, .at = a->at, .value_at = a->at };
	vec_push(&terms.terms, term);
	pmus_read(pmus);
	for (size_t i = 0; i < pmus->list.count; i++) {
		struct pmu *pmu = pmus->list.items[i];
		if (!pmu_event(pmus, pmu, name))
			continue;
		pmu_load(pmus, pmu);
		*known = true;
		added += add_of_pmu(a, pmu, &terms) == 0;
	}
	vec_fini(&terms.terms);
	return added;
}

int event_add_named(const struct event_adding *a, const char *name)
{
	bool known = false;
	if (add_named(a, name, &known))
		return 0;
	if (known)
		return -1;
	if (!a->events->tries && events_add_pfm(a->events, name))
		return 0;
	event_error_at(a->err, a->at, "Bad event name");
	if (!a->events->tries)
		event_error_explain(a->events, a->err, name, false);
	return -1;
}

int event_add_pmu(const struct event_adding *a, const char *name)
{
	struct pmus *pmus = &a->events->pmus;
	struct pmu *exact = pmus_named(pmus, name);
	size_t added = 0;
	if (exact && add_of_pmu(a, exact, a->terms) == 0)
		return 0;
	struct event_error first = *a->err;
	bool matched = exact != NULL;
	for (size_t i = 0; i < pmus->list.count; i++) {
		struct pmu *pmu = pmus->list.items[i];
		pmu_load(pmus, pmu);
		if (!pmu_matches(pmu, name) || a->events->list.count >= EVENTS_MAX)
			continue;
		added += add_of_pmu(a, pmu, a->terms) == 0;
		first = matched ? first : *a->err;
		matched = true;
	}
	if (added) {
		a->events->by_pattern = true;
		return 0;
	}
	bool known = false;
	if (add_named(a, name, &known))
		return 0;
	if (known)
		return -1;
	if (matched) { /* the PMU exists: its terms are wrong */
		*a->err = first;
		return -1;
	}
	event_error_at(a->err, a->at, "Bad event or PMU");
	if (!a->events->tries)
		event_error_explain(a->events, a->err, name, true);
	return -1;
}
