/* What to say of an event that does not exist: the nearest names, how to list all; or, of an event of another processor or kernel, what
 * it needs. Internal to event/. */
#pragma once
#include "event/event.h"

/* Sets the help of an unknown event or PMU; `pmu`: the name is before a slash. */
void event_error_explain(struct events *events, struct event_error *err, const char *name, bool pmu);
/* Appends the tracepoints with similar names. */
void event_error_add_similar_tracepoints(struct event_error *err, const char *system, const char *name);
