/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Finds the locks of all run queues, which have no symbols. A separate object, as a kernel whose symbol
 * list has no variables refuses it. */
#include "bpf/common.bpf.h"

enum { RUNQUEUES_MAX = 1024 };

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, RUNQUEUES_MAX);
	__type(key, __u64);
	__type(value, __u8);
} runqueue_locks SEC(".maps");

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct spinlock {
	int raw;
};

struct rq {
	struct spinlock __lock; /* since 5.14 */
};

#pragma clang attribute pop

extern const struct rq runqueues __ksym;

SEC("syscall")
int find_runqueues(void *ctx)
{
	__u8 one = 1;
	for (int cpu = 0; cpu < RUNQUEUES_MAX; cpu++) {
		const struct rq *queue = bpf_per_cpu_ptr(&runqueues, cpu);
		if (!queue)
			break;
		__u64 lock = (__u64)&queue->__lock;
		bpf_map_update_elem(&runqueue_locks, &lock, &one, BPF_ANY);
	}
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
