/* Event groups as the kernel accepts them: one PMU each, software beside it. Internal to event/. */
#pragma once
#include "event/event.h"

/* Orders the events from `first` on and divides groups whose events belong to different PMUs. Like perf, topdown events of Intel's
 * processors get into one group whose first event is "slots". Sets events->regrouped if an order or a group changes. */
void events_regroup(struct events *events, size_t first);
