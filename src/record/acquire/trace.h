/* Hardware traces among the events: intel_pt, intel_bts. Decides how they are opened, as perf does: the size of the AUX areas, what is
 * sampled with them, and the side-band that a decoder needs (context switches, changes of kernel code). Knows no packet. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "event/event.h"
#include "record/acquire/configure.h"
#include "record/acquire/target.h"

/* As on the command line. */
struct trace_options {
	size_t pages;            /* of an AUX area: -m ,PAGES; 0: chosen here */
	bool ring_pages_given;   /* -m PAGES */
	bool snapshot;           /* -S: areas are overwritten and read on request */
	bool snapshot_at_exit;   /* -Se */
	uint64_t snapshot_size;  /* -SBYTES; 0: the area */
	bool sample;             /* --aux-sample: samples of the other events of the group carry the newest bytes of the trace */
	uint64_t sample_size;    /* in bytes; 0: chosen here */
};

/* The numbers are those of AUXTRACE_INFO. */
enum trace_kind { TRACE_NONE = 0, TRACE_INTEL_PT = 1, TRACE_INTEL_BTS = 2 };

/* How the recorded events report which thread ran; the numbers are those of AUXTRACE_INFO. */
enum trace_switches { TRACE_SWITCHES_NONE = 0, TRACE_SWITCHES_OF_TASKS = 2, TRACE_SWITCHES_OF_CPUS = 3 };

struct trace {
	enum trace_kind kind;
	const struct pmu *pmu;
	bool snapshot, samples;  /* both: the areas are overwritten */
	bool per_cpu;            /* an area for each CPU, not for each thread */
	enum trace_switches switches;
	size_t pages;            /* of an AUX area */
	size_t snapshot_size, reference; /* see aux_ring_snapshot */
	size_t align;            /* the size of a record of the trace; 0: bytes */
	size_t ring_pages;       /* of the rings beside the areas, if the user chose none; 0: as usual */
};

/* Completes the events: groups, fields, followers, order. Nothing happens without a trace, unless options ask for one. Requests that perf
 * refuses fail with err->sys EINVAL. */
int trace_configure(struct trace *trace, struct events *events, const struct trace_options *options, struct sampling *sampling,
	const struct target *target, struct str *warnings, struct error *err);
/* The event that traces; NULL: absent. */
const struct event *trace_event(const struct trace *trace, const struct events *events);
