/* Events of tracepoints, by name or pattern. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "event/event_add.h"
#include "event/event_nearest.h"
#include "event/event_pfm.h"
#include "os/tracefs.h"

static int add_tracepoint(const struct event_adding *a, const char *system, const char *name, uint64_t id)
{
	struct arena *arena = &a->events->arena;
	struct event *event = vec_add(&a->events->list);
	struct str full = { 0 };
	str_printf(&full, "%s:%s", system, name);
	event->scale = 1;
	event->leader = (uint32_t)(a->events->list.count - 1);
	event->pmu = "tracepoint";
	event->attr.type = ATTR_TRACEPOINT;
	event->attr.config = id;
	event->attr.flags = (uint64_t)1 << ATTR_EXCLUDE_GUEST;
	event->system = arena_string(arena, system, strlen(system));
	event->tracepoint = arena_string(arena, name, strlen(name));
	event->name = arena_string(arena, full.text, full.len);
	event->terms.set = EVENT_TERM_NAME;
	str_fini(&full);
	return event_terms_apply(a->events, event, NULL, a->terms, TERMS_OF_TRACEPOINT, a->err);
}

static int tracepoint_error(const struct event_adding *a, const char *system, const char *name, const struct error *why)
{
	const char *root = tracefs_path();
	struct event_error *err = a->err;
	event_error_at(err, a->at, why->kind == ERROR_PERMISSION ? "can't access trace events" : "unknown tracepoint");
	if (why->kind == ERROR_PERMISSION || !root)
		snprintf(err->help, sizeof err->help, "Error:\t%.400s\nHint:\t%.400s\n", why->text, why->hint);
	else
		snprintf(err->help, sizeof err->help, "Error:\tFile %s/events/%.200s/%.200s not found.\n"
			"Hint:\tThe kernel may lack the option for this tracepoint; the folder contains the tracepoints that exist.\n",
			root, system, name);
	if (root && why->kind != ERROR_PERMISSION)
		event_error_add_similar_tracepoints(err, system, name);
	return -1;
}

/* perf's patterns: only '*' and '?' make one; a bracket is part of one that has them. */
static bool is_pattern(const char *text)
{
	return strpbrk(text, "*?") != NULL;
}

static int add_matching(const struct event_adding *a, const char *system, const char *pattern)
{
	CLEANUP_NAMES struct names names = { 0 };
	struct error why = { 0 };
	size_t before = a->events->list.count;
	if (tracefs_events(system, &names, &why) < 0)
		return tracepoint_error(a, system, pattern, &why);
	for (size_t i = 0; i < names.list.count && a->events->list.count < EVENTS_MAX; i++) {
		uint64_t id;
		if (fnmatch(pattern, names.list.items[i], 0) == 0 && tracefs_id(system, names.list.items[i], &id, NULL) == 0 &&
		    add_tracepoint(a, system, names.list.items[i], id) < 0)
			return -1;
	}
	return a->events->list.count > before ? 0 : tracepoint_error(a, system, pattern, &why);
}

/* `probe` names a function's return "f__return"; texts that were written for earlier versions of perf call it "f". */
static bool has_return(const char *system, const char *name, struct str *other, uint64_t *id)
{
	if (strncmp(system, "probe", 5) != 0)
		return false;
	str_printf(other, "%s__return", name);
	return tracefs_id(system, other->text, id, NULL) == 0;
}

static int add_of_system(const struct event_adding *a, const char *system, const char *name)
{
	struct error why = { 0 };
	CLEANUP_STR struct str other = { 0 };
	uint64_t id;
	if (is_pattern(name))
		return add_matching(a, system, name);
	if (tracefs_id(system, name, &id, &why) == 0)
		return add_tracepoint(a, system, name, id);
	if (has_return(system, name, &other, &id))
		return add_tracepoint(a, system, other.text, id);
	CLEANUP_STR struct str pfm = { 0 }; /* "INST_RETIRED:ANY_P" */
	str_printf(&pfm, "%s:%s", system, name);
	return events_add_pfm(a->events, pfm.text) ? 0 : tracepoint_error(a, system, name, &why);
}

int event_add_tracepoints(const struct event_adding *a, const char *system, const char *name)
{
	CLEANUP_NAMES struct names systems = { 0 };
	struct error why = { 0 };
	size_t before = a->events->list.count;
	struct event unused = { 0 };
	if (event_terms_apply(a->events, &unused, NULL, a->terms, TERMS_OF_TRACEPOINT, a->err) < 0)
		return -1; /* an invalid term is reported before an unknown tracepoint */
	if (!is_pattern(system))
		return add_of_system(a, system, name);
	if (tracefs_systems(&systems, &why) < 0)
		return tracepoint_error(a, system, name, &why);
	for (size_t i = 0; i < systems.list.count; i++) /* unlike in perf, a system may have no such tracepoint */
		if (fnmatch(system, systems.list.items[i], 0) == 0)
			add_of_system(a, systems.list.items[i], name);
	a->err->help[0] = '\0';
	return a->events->list.count > before ? 0 : tracepoint_error(a, system, name, &why);
}
