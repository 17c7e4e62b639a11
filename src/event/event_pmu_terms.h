/* Terms that a PMU gives their meaning: its formats, its named events, generic events of a core PMU. Internal to event/. */
#pragma once
#include "event/event_terms.h"

int event_pmu_terms_apply(struct events *events, struct event *event, struct pmu *pmu, const struct event_term_list *list,
	struct event_error *err);

/* Of event_terms.c: applies a term that is valid for all events, ignores others. */
int event_terms_apply_known(struct events *events, struct event *event, const struct event_term *term, struct event_error *err);
/* Always < 0: describes the unknown term and lists the valid ones. */
int event_term_unknown(const struct events *events, const struct event_term *term, const struct pmu *pmu, bool tracepoint,
	struct event_error *err);
