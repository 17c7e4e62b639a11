#include "analysis/filter/event_switch.h"

#include <errno.h>
#include <string.h>

#include "data/evsel_name.h"

void event_switch_init(struct event_switch *s, const char *on_name, const char *off_name, bool show)
{
	*s = (struct event_switch){ on_name, off_name, UINT32_MAX, UINT32_MAX, show, on_name != NULL };
}

static int find(const struct evlist *evlist, const char *name, const char *which, uint32_t *event, struct error *err)
{
	char buffer[EVSEL_NAME_MAX];
	*event = UINT32_MAX;
	for (uint32_t i = 0; name && *event == UINT32_MAX && i < evlist->events.count; i++)
		if (strcmp(evsel_name(&evlist->events.items[i], buffer, sizeof buffer), name) == 0)
			*event = i;
	if (!name || *event != UINT32_MAX)
		return 0;
	error_set(err, ERROR_USAGE, "ERROR: %s event not found (%s)", which, name);
	err->sys = ENOENT;
	return error_hint(err, "'perf evlist' lists the recording's events");
}

int event_switch_find(struct event_switch *s, const struct evlist *evlist, struct error *err)
{
	int on = find(evlist, s->on_name, "switch-on", &s->on, err);
	return on < 0 ? on : find(evlist, s->off_name, "switch-off", &s->off, err);
}

bool event_switch_passes(struct event_switch *s, uint32_t event)
{
	uint32_t next = s->is_off ? s->on : s->off;
	if (event != next || !event_switch_given(s))
		return !s->is_off;
	s->is_off = !s->is_off;
	return s->show;
}
