/* Parses event lists such as "cycles:u,{cpu-clock,faults}:S,sched:*" into attributes, names and event groups. The grammar is perf's
 * (perf-list(1), perf-record(1)). Parsing reads PMUs and tracepoints of the running system; it opens no counter. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/attr.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "base/writer.h"
#include "event/pmu.h"

/* Values between slashes that hold for one event only. `set` has one bit per EVENT_TERM_* that is present. */
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
	uint64_t period, freq, stack_size, max_stack, max_events, aux_sample_size;
	uint64_t branch;          /* bits of enum branch_sample_type; 0: no branches, even if the options ask for them */
	bool time, inherit, overwrite, percore, aux_output;
	const char *call_graph, *driver, *metric_id;
};

struct event {
	struct attr attr;         /* what the text states: type, config…, breakpoint, exclusions, precision, pinned; sampling is configured
	                           * by record/ */
	const char *name;         /* as perf names it: usually the text itself */
	const char *pmu;          /* name of its PMU: "cpu", "software", "tracepoint" …; NULL: unknown */
	const char *system, *tracepoint; /* of a tracepoint; otherwise NULL */
	const char *group_name;   /* of the leader of a named event group; otherwise NULL */
	const char *unit;         /* "msec"; NULL: a plain number */
	const char *filter;       /* from the option --filter; NULL: absent */
	const char *condition;    /* the same for samples that no filter of the kernel concerns (sample_condition.h); NULL: absent */
	double scale;             /* factor from the counter's value to `unit` */
	const struct cpus *cpus;  /* the CPUs on which its PMU counts; NULL: all */
	uint32_t leader;          /* index of the leader of its event group; its own index outside of a group */
	uint32_t members;         /* leader: number of events of the group, with itself; others: 0 */
	bool exclude_gh;          /* a modifier selects host or guest */
	bool sample_read, precise_max, weak, bpf_counter, retire_latency; /* the modifiers S, P, W, b, R */
	bool task_counted;        /* counted by programs at events of the kernel, without counters */
	const char *cgroup;       /* name; NULL: all cgroups */
	int cgroup_fd;            /* valid if `cgroup` is set */
	bool follower;            /* a dummy event that only provides side-band records; the user did not ask for it */
	bool private;             /* a follower whose records the recorder reads but does not write, since the rings of the other events are
	                           * overwritten */
	bool per_package, snapshot;
	uint64_t chosen;          /* the bits of attr.config that the text states by formats of the PMU */
	bool traces;              /* of a PMU that writes a hardware trace into an AUX area */
	bool tracks;              /* a follower that carries the side-band instead of the first event */
	bool tracks_early;        /* … from the opening on */
	bool immediate;           /* counts from the opening on, whenever the others start */
	bool everywhere;          /* opened on all CPUs, for all threads, whatever the target is */
	bool bare;                /* without the fields that options ask for samples: its records are no samples of the program */
	uint64_t more_fields, more_flags; /* bits of sample_type, and attribute flags, beside those that options ask for */
	bool period_is_vendors;   /* its period is that of a vendor's file: one that the user gives for all events replaces it */
	bool unwind;              /* the recorder unwinds the stacks of its samples and writes call chains instead of stack copies */
	bool keeps_registers;     /* with `unwind`: user registers are written too, as the user asked for them */
	struct event_terms terms;
};

/* The events of a command line, in order. Each call of events_parse appends events. */
struct events {
	VEC(struct event) list;
	struct pmus pmus;         /* read on demand */
	struct arena arena;
	bool tries;               /* the caller asks whether names exist: those of libpfm4 do not count, and errors have no help */
	bool counts;              /* the events are counted: terms that concern samples are errors */
	bool by_pattern;          /* a pattern has added events of several PMUs */
	bool regrouped;           /* groups were divided, or events ordered, as a group has events of one PMU only */
};

void events_fini(struct events *events);

struct event_error {
	const char *text;         /* the complete text, borrowed */
	size_t at;                /* offset of the error in text */
	char what[256];           /* for example "unknown tracepoint" */
	char help[1024];          /* further lines; "": none */
};

/* Sets the place and the reason; there is no help. Returns -1. */
int event_error_at(struct event_error *err, size_t at, const char *what);
/* Appends the events of `text`. On failure *err (may be NULL) has the offset and the reason, and `events` is unchanged. */
int events_parse(struct events *events, const char *text, struct event_error *err);
/* Restricts an event to a cgroup and opens the cgroup's folder. Such events count on whole CPUs only. */
int event_set_cgroup(struct events *events, size_t index, const char *name, struct error *err);
/* Appends an event that only provides side-band records (dummy:u); returns its index. */
uint32_t events_add_follower(struct events *events);
/* Makes the events up to the index `last` members of the group of `leader`, unless one of them is in another group (then: no change). */
void events_join(struct events *events, uint32_t leader, uint32_t last);
/* Moves an event, with all events of its group, to the front. */
void events_to_front(struct events *events, uint32_t index);
/* Where there are several kinds of cores, names their events after them, as perf does in recordings: "cycles:u" becomes
 * "cpu_core/cycles/u". A name with a slash remains. */
void events_name_cores(struct events *events);
/* Prints the error as perf does: the text, cut to the line, with a mark below the offset. */
void event_error_print(const struct event_error *err, struct writer *out);

/* Parses "fp", "dwarf,4096", "unwind,4096" or "lbr". Sizes in bytes, max_stack in frames; *stack_size is a default if it is not 0. Fails
 * with ERROR_USAGE. */
enum call_graph { CALL_GRAPH_NONE, CALL_GRAPH_FP, CALL_GRAPH_DWARF, CALL_GRAPH_LBR, CALL_GRAPH_UNWIND };
int call_graph_parse(const char *text, enum call_graph *mode, uint64_t *stack_size, uint32_t *max_stack, struct error *err);
/* Parses "any,u,save_type" into bits of enum branch_sample_type. Fails with ERROR_USAGE. */
int branch_filter_parse(const char *text, uint64_t *mask, struct error *err);

/* Appends a name for an attribute without one: "cpu-clock", "L1-dcache-load-misses", "raw 0x1a" …, with its modifiers. */
void event_name_of(const struct attr *attr, struct str *out);
/* Appends the modifiers of the attribute: ":u", ":ppp" or nothing. */
void event_modifiers_of(const struct attr *attr, struct str *out);
