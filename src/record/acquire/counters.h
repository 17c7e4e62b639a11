/* The events opened: a descriptor per event, CPU and thread, with fallbacks where the kernel or the machine has less than was
 * asked for, and the rings their records go to. Shared by record, stat and live views. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "data/evlist.h"
#include "event/event.h"
#include "os/ring.h"
#include "record/acquire/target.h"

struct counter {
	int fd;              /* -1: the thread or the CPU has gone */
	uint32_t event;
	int32_t cpu;         /* -1: any */
	pid_t tid;           /* -1: any */
	uint32_t ring;       /* index; UINT32_MAX: none */
	uint64_t id;
};

struct counters {
	VEC(struct counter) list;    /* by event, then CPU, then thread */
	VEC(uint32_t) first;         /* by event: its first counter; one more at the end */
	VEC(struct ring) rings;
	struct cpus cpus;            /* of all events together; -1 alone: threads are followed anywhere */
	struct cpus offline;         /* that went offline before their events were opened */
	uint64_t missing_threads;    /* that ended before they were opened */
};

/* Opens all. Fallbacks change the events' attributes and names: no PMU for cycles (a clock instead), less precision, kernel code
 * left out where it is not permitted, what an old kernel does not know. notes: what was changed, a sentence a line; may be NULL. */
int counters_open(struct counters *counters, struct events *events, const struct target *target, struct str *notes,
	struct error *err);
/* Maps a ring per CPU (or thread) and sends every counter's records there. pages: a power of two. */
int counters_map(struct counters *counters, const struct events *events, size_t pages, struct error *err);
void counters_close(struct counters *counters);

/* Puts the tracepoint filters of the events in force. */
int counters_filter(struct counters *counters, const struct events *events, struct error *err);
/* Starts or stops all, or those of one event (index; UINT32_MAX: all). */
void counters_enable(struct counters *counters, const struct events *events, uint32_t event);
void counters_disable(struct counters *counters, const struct events *events, uint32_t event);

/* Appends the events to an evlist with the ids of all their counters. attr_of: the attributes to give each; NULL: those that it was
 * opened with, by which records of the rings are read. */
void counters_evlist(const struct counters *counters, const struct events *events, struct attr (*attr_of)(const struct event *event),
	struct evlist *evlist);

/* Samples of an event that the kernel had no room for, over all its counters; 0 where the kernel does not tell. */
uint64_t counter_lost(const struct counter *counter, const struct attr *attr);

/* The sentence for an event that could not be opened. */
int counter_explain(struct error *err, const struct event *event, const struct target *target, int sys);
