/* Events that are counted on all CPUs separately from the recorded ones, because the recorder acts when they happen: it starts a new file
 * (--switch-output-event), or reads the BPF programs while they are loaded. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "event/event.h"
#include "record/acquire/counters.h"
#include "record/acquire/measurement.h"
#include "record/acquire/target.h"

struct watched_event {
	struct target target;
	struct counters counters;
};

/* Opens and starts the events, and adds their rings to the measurement's wait. events: completed here; borrowed. */
int watched_event_open(struct watched_event *event, struct events *events, struct measurement *measurement, unsigned bit,
	struct error *err);
/* The same for programs that are loaded and unloaded. */
int watched_event_open_programs(struct watched_event *event, struct events *events, struct measurement *measurement, unsigned bit,
	struct error *err);
void watched_event_close(struct watched_event *event); /* a zeroed one is fine */
/* Empties their rings; returns whether one of them happened. */
bool watched_event_happened(struct watched_event *event);
