/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What all BPF programs of this folder share: the kernel's types with the few members that the programs read. preserve_access_index makes
 * libbpf replace each offset by the running kernel's, so no kernel header and no dump of its types is needed. A member that only some
 * kernels have belongs to a type with a suffix (`struct task_struct___5_14`), and is guarded by bpf_core_field_exists.
 * Sources: Documentation/bpf/libbpf/libbpf_overview.rst, linux/bpf.h. */
#pragma once
#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

typedef _Bool bool;
#define true 1
#define false 0
#ifndef NULL
#define NULL ((void *)0)
#endif

/* Counters of a program: one slot per cause and CPU, summed by loader_sum. */
#define COUNTERS_MAP(map, count) \
	struct { \
		__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY); \
		__uint(max_entries, count); \
		__type(key, __u32); \
		__type(value, __u64); \
	} map SEC(".maps")

#define COUNT_BY(map, slot, number) ({ \
	__u32 slot_ = (slot); \
	__u64 *count_ = bpf_map_lookup_elem(&(map), &slot_); \
	if (count_) \
		*count_ += (number); \
})
#define COUNT(map, slot) COUNT_BY(map, slot, 1)

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct task_struct {
	int pid, tgid;
	unsigned int flags;
	char comm[16];
	struct task_struct *group_leader;
};

struct task_struct___state { /* since 5.14 */
	unsigned int __state;
};

struct task_struct___state_before_5_14 {
	long state;
};

/* The arguments of an iterator over tasks. */
struct seq_file;
struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

/* TASK_INTERRUPTIBLE and so on, with flags above 0xff (include/linux/sched.h); 0: the task can run. */
static inline long task_state(const struct task_struct *task)
{
	const struct task_struct___state *now = (const void *)task;
	if (bpf_core_field_exists(now->__state))
		return BPF_CORE_READ(now, __state);
	const struct task_struct___state_before_5_14 *before = (const void *)task;
	return BPF_CORE_READ(before, state);
}
