/* Traces system calls by BPF: loads trace.bpf.c, steers it, and reads its ring or its sums. Knows no name of a call and no output.
 *
 *   trace_programs_open → trace_programs_wait, trace_programs_read (until the end) → trace_programs_sums → trace_programs_close */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/vec.h"
#include "bpf/loader.h"
#include "bpf/trace_order.h"
#include "bpf/trace_record.h"

struct trace_programs_options {
	bool everything;             /* all tasks but `hidden` */
	const pid_t *targets;        /* these tasks */
	size_t target_count;
	pid_t command;               /* this one from its exec on; 0: none */
	const pid_t *hidden;
	size_t hidden_count;
	const int *cpus;             /* calls on these CPUs; none given: on all */
	size_t cpu_count;
	int cgroup;                  /* descriptor of a folder: calls of its tasks; -1: all */
	bool no_inherit;
	bool sums, error_sums;
	bool cgroup_ids;             /* records of tasks have the ids of their cgroups: in cgroup2 (unified), or of perf_event's hierarchy */
	bool unified;
	bool failures_only;
	uint64_t least_ns;
	const struct trace_rule *rules; /* 2 * TRACE_NUMBERS */
	/* Calls of 64-bit code are traced at these calls' own tracepoints, so that other calls do not pay; 32-bit calls as soon as a 32-bit
	 * program is executed, or from the beginning on. None: every call passes the programs. */
	const char *const *calls;
	size_t call_count;
	bool delayed;                /* calls are traced from trace_programs_begin on; not with calls[] */
	bool compat_runs;            /* 32-bit programs run already */
	bool sorted;                 /* see trace_programs_read */
	size_t ring_bytes;           /* 0: the default */
};

struct trace_programs {
	struct loader loader;
	struct trace_shared *shared;
	unsigned long *consumed;     /* bytes read so far, for the kernel */
	const unsigned long *produced;
	uint8_t **pieces;            /* of the ring's data, mapped when they are first read: a mapped ring counts as memory of the process */
	size_t ring_bytes;
	struct bpf_link *all_calls[2]; /* with calls[]: the programs that every call passes, for those of 32 bits */
	bool by_call, command_seen, sums;
	bool compat_late;            /* a 32-bit program was executed when its calls were not traced yet: its first ones are missing */
	uint8_t *joined;             /* a record across the border of two pieces */
	bool sorted;
	struct trace_order order;
};

/* Opens, loads and attaches. ERROR_PERMISSION, ERROR_UNSUPPORTED: tracepoints may still do. */
int trace_programs_open(struct trace_programs *programs, const struct trace_programs_options *options, struct error *err);
void trace_programs_close(struct trace_programs *programs);
/* After an open that was `delayed`: tasks were followed before, calls are from now on. */
int trace_programs_begin(struct trace_programs *programs, struct error *err);

/* Passes what has arrived, of times up to `until` (UINT64_MAX: all): struct trace_call (shortened to its arguments, then its payload) or
 * struct trace_task_record, of checked sizes. Returns the number of records that were taken from the ring.
 * The ring's order is that in which the CPUs reserved room, which may differ from that of the times. `sorted`: records pass by time, if the
 * caller's `until` is so long ago that all before it have arrived; a record that arrives later, or when too many wait, passes at once. */
size_t trace_programs_read(struct trace_programs *programs, uint64_t until, trace_record_visitor *record, void *context);
/* Readable if there are records; who waits for it is woken once the ring is filled to its watermark. */
int trace_programs_fd(const struct trace_programs *programs);
/* Before and after a wait for that descriptor. */
void trace_programs_sleep(struct trace_programs *programs);
void trace_programs_wake(struct trace_programs *programs);

typedef void trace_sum_visitor(void *context, const struct trace_sum_key *key, const struct trace_sum *sum);
typedef void trace_error_visitor(void *context, const struct trace_error_key *key, uint64_t count);
/* Ends the tracing. A key may come several times: its parts add up. */
void trace_programs_sums(struct trace_programs *programs, trace_sum_visitor *sum, trace_error_visitor *error, void *context);

/* Records that found no room; threads and calls whose sums found none. */
uint64_t trace_programs_lost(const struct trace_programs *programs);
uint64_t trace_programs_unsummed(const struct trace_programs *programs);

/* Whether these bytes, at a multiple of 8, hold what the record says: its arguments and its payload, or a task. */
bool trace_record_valid(const void *record, size_t size);
/* The item of a payload at *at, and its bytes; false: there is no further one, or the payload is damaged. */
bool trace_item_next(const struct trace_call *call, size_t *at, const struct trace_item **item, const uint8_t **bytes);
