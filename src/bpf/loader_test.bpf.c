/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Programs of the loader's test: they count the switches of one thread, and name an attach point that no kernel has. */
#include "bpf/common.bpf.h"

const volatile int watched = 0;

COUNTERS_MAP(counters, 2);

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} states SEC(".maps");

SEC("tp_btf/sched_switch")
int BPF_PROG(count_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	if (prev->pid != watched)
		return 0;
	__u32 key = task_state(prev) & 0xff;
	__u64 one = 1;
	COUNT(counters, 1);
	bpf_map_update_elem(&states, &key, &one, BPF_ANY);
	return 0;
}

SEC("?tp_btf/no_such_tracepoint")
int BPF_PROG(never, int argument)
{
	return 0;
}

SEC("?tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	return 0;
}

SEC("?tp_btf/sched_wakeup")
int BPF_PROG(refused, struct task_struct *task)
{
	return *(volatile int *)((char *)task + 0x7ff0); /* beyond the type: the verifier refuses it */
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
