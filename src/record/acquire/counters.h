/* Opens events: a descriptor per event, CPU and thread, with fallbacks where the kernel or the machine lacks something, and maps the rings
 * that receive their records. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "data/evlist.h"
#include "event/event.h"
#include "os/aux_ring.h"
#include "os/ring.h"
#include "record/acquire/target.h"

struct counter {
	int fd;              /* -1: the thread ended or the CPU went offline before, or perfuse itself, BPF or samples measure the event */
	uint32_t event;
	int32_t cpu;         /* -1: any */
	pid_t tid;           /* -1: any */
	uint32_t reader;     /* index of the counter in whose kernel group it is: a read of that one returns both; its own index if none */
	uint32_t ring;       /* index; UINT32_MAX: not mapped */
	uint64_t id;
};

enum counter_state {
	COUNTER_OPENED,
	COUNTER_UNSUPPORTED,         /* kernel or machine cannot count the event */
	COUNTER_LAME,                /* it is in a group of which a member is unsupported */
};

struct counters {
	VEC(struct counter) list;    /* by event, then CPU, then thread */
	VEC(uint32_t) first;         /* by event: index of its first counter; one more at the end */
	VEC(uint8_t) states;         /* by event: enum counter_state; without `partly` all are opened */
	VEC(struct ring) rings;
	VEC(struct aux_ring) areas;  /* by ring: that of its counter, if it traces; empty without a trace */
	struct cpus cpus;            /* of all events; -1 alone: threads are measured on any CPU */
	struct cpus offline;         /* those that went offline before their events were opened */
	uint64_t missing_threads;    /* those that ended before their events were opened */
};

/* Opens all events. Fallbacks change attributes and names: a clock if no PMU counts cycles, less precision, user code alone if the kernel
 * may not be measured, no features that an old kernel lacks. notes: what was changed, a sentence a line; may be NULL. */
int counters_open(struct counters *counters, struct events *events, const struct target *target, struct str *notes,
	struct error *err);
/* The same for counts without samples: an event that the kernel or the machine lacks is a state without counters, and its group
 * does not count; no clock replaces cycles. Events that the kernel forbids are failures still. Events with the modifier b or R, and those
 * that task_counts counts, have counters that are not open: the caller counts them. together: software events may form a kernel group
 * that the user did not ask for, which changes their attributes, and they start and stop together. */
int counters_open_partly(struct counters *counters, struct events *events, const struct target *target, bool together, struct str *notes,
	struct error *err);
/* Reads the kernel's ids of all counters, which counters_open has done. */
int counters_read_ids(struct counters *counters, struct error *err);
struct ring_sizes {
	size_t pages;                /* of a ring: a power of two */
	size_t area_bytes;           /* of the AUX area of a ring whose counter traces; 0: no event traces */
	bool overwrite_areas;
};

/* Maps a ring per CPU (or thread) and directs the records of all counters there. */
int counters_map(struct counters *counters, const struct events *events, const struct ring_sizes *sizes, struct error *err);
void counters_close(struct counters *counters);

/* Sets the tracepoint filters of the events. */
int counters_filter(struct counters *counters, const struct events *events, struct error *err);
/* Starts or stops the counters of one event (index), or all (UINT32_MAX) but those that only provide side-band. */
void counters_switch(struct counters *counters, const struct events *events, uint32_t event, bool on);

/* Appends the events to an evlist with the ids of all their counters. attr_of: returns the attributes for each; NULL: those that it was
 * opened with, by which records of the rings are decoded. */
void counters_evlist(const struct counters *counters, const struct events *events, struct attr (*attr_of)(const struct event *event),
	struct evlist *evlist);

/* The number of samples of a counter that found no room in the ring; 0 if the kernel does not count them. */
uint64_t counter_lost(const struct counter *counter, const struct attr *attr);

/* Whether the kernel or the machine lacks an event that could not be opened; false: the kernel forbids it, or another failure. */
bool counter_is_missing(int sys);
/* Why hardware events are absent, as far as an errno shows it. */
#define COUNTER_ABSENT_HINT "no PMU of this machine counts it: a virtual machine has one only if its host passes it on"

/* The sentence for an event that could not be opened. */
int counter_explain(struct error *err, const struct event *event, const struct target *target, int sys);
