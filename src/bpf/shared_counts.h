/* Counts by counters of whole CPUs, which all processes that count the same attribute share (counter_registry.h): BPF programs at task
 * switches give what a counter counted to the thread that ran (shared_counts.bpf.c). The kernel opens and switches no counter per thread.
 * Or programs at the entry and exit of a BPF program give it what a counter counted while it ran. Knows no aggregation.
 *
 *   shared_counts_open → shared_counts_start → shared_counts_read, shared_counts_get → shared_counts_close */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/attr.h"
#include "base/vec.h"
#include "bpf/counter_registry.h"
#include "bpf/loader.h"
#include "bpf/shared_counts_shared.h"

struct shared_counts_event {
	const struct attr *attr;     /* borrowed until the open returns, as all of this */
	const struct cpus *cpus;     /* that count it; NULL: all */
	int cgroup;                  /* descriptor of the only one that is counted; -1: all */
};

struct shared_counts_options {
	const char *registry;        /* path; NULL: the counters are not shared */
	const struct shared_counts_event *events;
	const uint32_t *threads;     /* each has a slot */
	size_t event_count, thread_count; /* no thread: everything on a CPU is counted, in slot 0 */
	uint32_t program;            /* id of the BPF program that is counted, instead of threads; 0: none */
	bool follow;                 /* threads and processes that they start are counted in their slots */
	bool from_exec;              /* each thread counts from its next exec on */
};

struct shared_counts {
	struct counter_registry registry;
	struct loader loader;
	VEC(int) states;             /* by event: 0, or -errno: it cannot be counted */
	VEC(struct shared_sum) sums; /* as read: by event, slot, CPU */
	size_t slots, cpu_count;
	uint32_t program;
	struct cpus cpus;            /* online ones */
};

/* Fails if the kernel does not run the programs; an event that it cannot count is a state. */
int shared_counts_open(struct shared_counts *counts, const struct shared_counts_options *options, struct error *err);
/* Attaches the programs. Nothing counts until shared_counts_switch. */
int shared_counts_start(struct shared_counts *counts, struct error *err);
/* Starts or stops the counting of one event (index), or of all (UINT32_MAX). */
void shared_counts_switch(struct shared_counts *counts, uint32_t event, bool on);
void shared_counts_read(struct shared_counts *counts);
/* Of the last shared_counts_read. cpu -1: the sum of all. */
struct shared_sum shared_counts_get(const struct shared_counts *counts, size_t event, size_t slot, int32_t cpu);
/* The number of threads that were started and are not counted; of switches that the kernel did not report, and the time, in ns of all CPUs,
 * whose counts may therefore be of another thread. */
uint64_t shared_counts_lost(const struct shared_counts *counts, enum shared_loss loss);
void shared_counts_close(struct shared_counts *counts);
