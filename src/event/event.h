/* What the user means by "cycles:u,{cpu-clock,faults}:S,sched:*": events as attributes, names and groups.
 *
 * The grammar is the one perf's users know. Parsing asks the running system for PMUs and tracepoints; it opens nothing.
 * Knows no target, no ring, no file. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/attr.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "base/writer.h"
#include "event/pmu.h"

/* What "/…/" may set for one event alone; `set` has a bit per EVENT_TERM_* that was given. */
enum event_term_bit {
	EVENT_TERM_PERIOD = 1 << 0,
	EVENT_TERM_FREQ = 1 << 1,
	EVENT_TERM_TIME = 1 << 2,
	EVENT_TERM_CALL_GRAPH = 1 << 3,
	EVENT_TERM_STACK_SIZE = 1 << 4,
	EVENT_TERM_INHERIT = 1 << 5,
	EVENT_TERM_MAX_STACK = 1 << 6,
	EVENT_TERM_MAX_EVENTS = 1 << 7,
	EVENT_TERM_OVERWRITE = 1 << 8,
	EVENT_TERM_BRANCH = 1 << 9,
	EVENT_TERM_PERCORE = 1 << 10,
	EVENT_TERM_AUX_OUTPUT = 1 << 11,
	EVENT_TERM_AUX_SAMPLE_SIZE = 1 << 12,
	EVENT_TERM_DRIVER = 1 << 13,
	EVENT_TERM_METRIC_ID = 1 << 14,
	EVENT_TERM_NAME = 1 << 15,
};

struct event_terms {
	uint32_t set;
	uint64_t period, freq, stack_size, max_stack, max_events, branch, aux_sample_size;
	bool time, inherit, overwrite, percore, aux_output;
	const char *call_graph, *driver, *metric_id;
};

struct event {
	struct attr attr;         /* type, config.., breakpoint, exclusions, precision, pinned: what the text says, nothing of sampling */
	const char *name;         /* as perf names it: usually the text itself */
	const char *pmu;          /* whose event it is: "cpu", "software", "tracepoint" …; NULL where only the type is known */
	const char *system, *tracepoint; /* of a tracepoint; NULL */
	const char *group_name;   /* of the leader of a named group; NULL */
	const char *unit;         /* "msec"; NULL: plain numbers */
	const char *filter;       /* added by the command's --filter; NULL */
	double scale;             /* 1 unless the unit asks for another */
	const struct cpus *cpus;  /* where its PMU counts; NULL: everywhere */
	uint32_t leader;          /* index of its group's leader; itself where it is in no group */
	uint32_t members;         /* leader: of the group, itself included; others 0 */
	bool exclude_gh;          /* host or guest was chosen by the text */
	bool sample_read, precise_max, weak, bpf_counter, retire_latency; /* modifiers S P W b R */
	const char *cgroup;       /* its name; NULL: none */
	int cgroup_fd;            /* where `cgroup` is set */
	bool follower;            /* added to follow processes (a dummy), not asked for */
	bool private;             /* … and its records are for the recorder alone: rings of other events are overwritten */
	bool any_pmu;             /* a generic hardware event that every core PMU may count */
	bool per_package, snapshot;
	bool unwind;              /* the recorder unwinds the stacks of its samples, and writes call chains instead of them */
	bool keeps_registers;     /* … and the registers, which were asked for */
	struct event_terms terms;
};

/* The events of a command line, in order. Options may be given several times: each call of events_parse adds. */
struct events {
	VEC(struct event) list;
	struct pmus pmus;         /* read at first need */
	struct arena arena;
};

void events_fini(struct events *events);

struct event_error {
	const char *text;         /* the whole text that was parsed, borrowed */
	size_t at;                /* where in it */
	char what[256];           /* "unknown tracepoint" */
	char help[1024];          /* more lines; "" */
};

/* Adds the events of `text`. < 0: *err says where and why, and nothing was added. */
int events_parse(struct events *events, const char *text, struct event_error *err);
/* Measures an event in one cgroup alone (whole CPUs only). */
int event_set_cgroup(struct events *events, size_t index, const char *name, struct error *err);
/* The event that only carries side-band records; returns its index. */
uint32_t events_add_follower(struct events *events);
/* As perf shows it: the text with a mark below the place, cut where it is long. */
void event_error_print(const struct event_error *err, struct writer *out);

/* "fp", "dwarf,4096", "unwind,4096", "lbr": < 0 for other words. */
enum call_graph { CALL_GRAPH_NONE, CALL_GRAPH_FP, CALL_GRAPH_DWARF, CALL_GRAPH_LBR, CALL_GRAPH_UNWIND };
int call_graph_parse(const char *text, enum call_graph *mode, uint64_t *stack_size, uint32_t *max_stack, struct error *err);
/* "any,u,save_type": bits of enum branch_sample_type. */
int branch_filter_parse(const char *text, uint64_t *mask, struct error *err);

/* Names for what has none: "cpu-clock", "L1-dcache-load-misses", "raw 0x1a" …, with the modifiers that the attributes tell. */
void event_name_of(const struct attr *attr, struct str *out);
/* The modifiers alone: ":u", ":ppp", "". */
void event_modifiers_of(const struct attr *attr, struct str *out);
