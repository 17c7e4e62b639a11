/* Events that start a new file when they happen (--switch-output-event): counted on all CPUs, separately from the recorded events. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "event/event.h"
#include "record/acquire/counters.h"
#include "record/acquire/target.h"

struct switch_event {
	struct target target;
	struct counters counters;
	struct events *events;
};

/* Opens and starts them. events: borrowed. */
int switch_event_open(struct switch_event *event, struct events *events, struct error *err);
void switch_event_close(struct switch_event *event); /* a zeroed one is fine */
/* Empties their rings; returns whether one of them happened. */
bool switch_event_happened(struct switch_event *event);
