/* --switch-on and --switch-off: only samples between a sample of one event and a sample of another count. Without the first event samples
 * count from the start; without the second, to the end. A zeroed struct lets every sample pass. */
#pragma once
#include "base/error.h"
#include "data/evlist.h"

struct event_switch {
	const char *on_name, *off_name; /* borrowed; NULL: not given */
	uint32_t on, off;               /* their indices in the recording; UINT32_MAX: it has no such event */
	bool show;                      /* samples of these two events count, too */
	bool is_off;
};

void event_switch_init(struct event_switch *s, const char *on_name, const char *off_name, bool show);

/* Looks for the events by their whole names. Fails with ERROR_USAGE and ENOENT, in perf's words, if one is absent. */
int event_switch_find(struct event_switch *s, const struct evlist *evlist, struct error *err);

static inline bool event_switch_given(const struct event_switch *s)
{
	return s->on_name || s->off_name;
}

/* Whether the next sample, which is of this event, counts; samples are asked for in order of time. */
bool event_switch_passes(struct event_switch *s, uint32_t event);
