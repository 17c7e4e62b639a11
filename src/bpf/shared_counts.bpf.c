/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Reads counters of a CPU, which several users share, when a thread leaves the CPU or comes to it, and adds what they counted meanwhile to
 * the sums of that thread (Linux 6.1 and later); or the same when a BPF program begins and ends. */
#include "bpf/common.bpf.h"
#include "bpf/shared_counts_shared.h"

enum { THREADS = 65536, DEAD = 0x80 };

/* By reading: the counters of all CPUs. Their element survives the process that put it there. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, SHARED_READINGS);
	__type(key, __u32);
	__array(values, struct {
		__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
		__uint(max_entries, 1);
		__uint(map_flags, BPF_F_PRESERVE_ELEMS);
		__uint(key_size, sizeof(__u32));
		__uint(value_size, sizeof(__u32));
	});
} arrays SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} cgroups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SHARED_EVENTS);
	__type(key, __u32);
	__type(value, struct shared_event);
} events SEC(".maps");

/* Thread id → slot. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, THREADS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, __u32);
} threads SEC(".maps");

/* At event * slots + slot. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct shared_sum);
} sums SEC(".maps");

/* Of a CPU: what its counters had at their last reading, and what they counted since the one before. */
struct state {
	struct shared_sum last[SHARED_READINGS], counted[SHARED_READINGS];
	__u8 known[SHARED_READINGS], on[SHARED_EVENTS];
	__u32 thread;           /* that runs since the last reading */
	bool counted_thread;    /* it is one of those that are counted */
	__u32 depth;            /* calls of the counted program that have not ended; a call can interrupt another one */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct state);
} states SEC(".maps");

COUNTERS_MAP(losses, SHARED_LOSSES);

const volatile __u32 event_count, slots;
const volatile bool by_thread, by_switch, by_program; /* by_switch: on_switch is attached */

/* A thread, as seen by a reading. */
struct running {
	__u32 tid;
	bool counted;
};

/* `before` ran until now, `after` runs from now on. If another one than `before` ran after the last reading, the kernel has not reported a
 * switch: what the counters counted since is of two threads, or of more; it is counted as that of `before`. */
static inline struct state *read_counters(const struct running *before, const struct running *after)
{
	__u32 zero = 0;
	struct state *state = bpf_map_lookup_elem(&states, &zero);
	if (!state)
		return NULL;
	const bool unsure = by_switch && state->known[0] && state->thread != before->tid && (state->counted_thread || before->counted);
	state->thread = after->tid;
	state->counted_thread = after->counted;
	for (__u32 i = 0; i < SHARED_READINGS && i < event_count; i++) {
		struct bpf_perf_event_value now = { 0 };
		__u32 key = i;
		void *array = bpf_map_lookup_elem(&arrays, &key);
		if (!array)
			break;
		state->counted[i] = (struct shared_sum){ 0 };
		if (bpf_perf_event_read_value(array, BPF_F_CURRENT_CPU, &now, sizeof now) < 0)
			continue;
		struct shared_sum *last = &state->last[i];
		if (state->known[i])
			state->counted[i] = (struct shared_sum){ now.counter - last->value, now.enabled - last->enabled, now.running - last->running };
		*last = (struct shared_sum){ now.counter, now.enabled, now.running };
		state->known[i] = 1;
	}
	if (unsure) {
		COUNT(losses, SHARED_LOST_SWITCH);
		COUNT_BY(losses, SHARED_UNSURE_NS, state->counted[0].enabled);
	}
	return state;
}

/* The task is the current one. */
static inline void add_counted(struct state *state, __u32 slot)
{
	for (__u32 i = 0; i < SHARED_EVENTS && i < event_count; i++) {
		__u32 at = i, key = i * slots + slot;
		const struct shared_event *event = bpf_map_lookup_elem(&events, &at);
		if (!state->on[i] || !event)
			continue;
		__u32 reading = event->reading;
		if (reading >= SHARED_READINGS || (event->cgroup >= 0 && bpf_current_task_under_cgroup(&cgroups, event->cgroup) != 1))
			continue;
		struct shared_sum *sum = bpf_map_lookup_elem(&sums, &key);
		if (!sum)
			continue;
		sum->value += state->counted[reading].value;
		sum->enabled += state->counted[reading].enabled;
		sum->running += state->counted[reading].running;
	}
}

/* Returns false if the thread is not counted. */
static inline bool find_slot(__u32 tid, __u32 *slot)
{
	__u32 *found = by_thread ? bpf_map_lookup_elem(&threads, &tid) : NULL;
	*slot = found ? *found : 0;
	return !by_thread || found;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempted, struct task_struct *prev, struct task_struct *next)
{
	__u32 slot, waits, tid = prev->pid;
	bool leaves = find_slot(tid, &slot), comes = find_slot(next->pid, &waits);
	if (!leaves && !comes)
		return 0;
	struct state *state = read_counters(&(struct running){ tid, leaves && !(slot & SHARED_WAITS) },
		&(struct running){ next->pid, comes && !(waits & SHARED_WAITS) });
	if (leaves && state && !(slot & SHARED_WAITS))
		add_counted(state, slot);
	if (leaves && by_thread && (task_state(prev) & DEAD))
		bpf_map_delete_elem(&threads, &tid);
	return 0;
}

/* Runs on a CPU that user space chooses. args: a command, an event or -1. */
SEC("raw_tp/sched_switch")
int on_command(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 command = ctx->args[0], event = ctx->args[1];
	__u32 slot;
	const struct running current = { task->pid, find_slot(task->pid, &slot) && !(slot & SHARED_WAITS) };
	struct state *state = read_counters(&current, &current);
	if (!state)
		return 0;
	if (current.counted && (!by_program || state->depth))
		add_counted(state, slot);
	for (__u32 i = 0; command != SHARED_READ && i < SHARED_EVENTS && i < event_count; i++)
		if (event == (__u64)-1 || event == i)
			state->on[i] = command == SHARED_START;
	return 0;
}

/* Of the counted BPF program, which user space chooses. */
SEC("?fentry/program")
int BPF_PROG(on_enter)
{
	struct state *state = read_counters(&(struct running){ 0 }, &(struct running){ 0 });
	if (state && state->depth++)
		add_counted(state, 0);
	return 0;
}

SEC("?fexit/program")
int BPF_PROG(on_leave)
{
	struct state *state = read_counters(&(struct running){ 0 }, &(struct running){ 0 });
	if (state && state->depth) { /* it began after on_enter was attached */
		state->depth--;
		add_counted(state, 0);
	}
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 slot, tid = child->pid;
	if (find_slot(parent->pid, &slot) && bpf_map_update_elem(&threads, &tid, &slot, BPF_ANY) < 0)
		COUNT(losses, SHARED_LOST_THREAD);
	return 0;
}

/* What the counters counted before belongs to the program that started the command. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task)
{
	__u32 slot, tid = task->pid;
	if (!find_slot(tid, &slot) || !(slot & SHARED_WAITS))
		return 0;
	read_counters(&(struct running){ tid, false }, &(struct running){ tid, true });
	slot &= ~SHARED_WAITS;
	bpf_map_update_elem(&threads, &tid, &slot, BPF_ANY);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
