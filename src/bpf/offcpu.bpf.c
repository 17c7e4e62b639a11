/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Sums the time between a switch that blocks a thread and the switch back, by thread, state and call chains (Linux 5.18 and later). The
 * stack of user code is copied at the switch, once for each id; user space unwinds the copy. */
#include "bpf/common.bpf.h"
#include "bpf/offcpu_shared.h"

enum { ENTRIES = 16384, KERNEL_THREAD = 0x00200000, BLOCKED = 3, HASHED_WORDS = 48, STACK_SPAN = 1 << 23, PAGE_ZERO = 0x10000 };

#define HASH_MAP(name, entries, type_of_key, type_of_value) \
	struct { \
		__uint(type, BPF_MAP_TYPE_HASH); \
		__uint(max_entries, entries); \
		__type(key, type_of_key); \
		__type(value, type_of_value); \
	} name SEC(".maps")

HASH_MAP(tasks, 1, __u32, __u8);
HASH_MAP(cpus, 1, __u32, __u8);
HASH_MAP(copied, ENTRIES, __u64, __u8);
HASH_MAP(sums, ENTRIES, struct offcpu_key, struct offcpu_sum);
COUNTERS_MAP(losses, OFFCPU_LOSSES);

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 24);
} copies SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, ENTRIES);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, OFFCPU_FRAMES * sizeof(__u64));
} kernel_stacks SEC(".maps");

struct wait {
	__u64 since;             /* 0: the thread does not wait */
	__u64 ran;               /* ns that the thread had run until then */
	struct offcpu_key key;
	char waker_comm[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct wait);
} waits SEC(".maps");

/* What is too large for the stack of a program. Interrupts are off where it is used. */
struct scratch {
	__u64 words[HASHED_WORDS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

const volatile bool by_cpu, by_task, by_process, futexes;
const volatile __u32 register_bytes = 168, sp_at = 152, ip_at = 128, bp_at = 32; /* of struct pt_regs */
const volatile __u32 call_at = 120, argument_at = 112, operation_at = 104, value_at = 96; /* of a system call */
const volatile __u32 futex_call = 202;
const volatile __u64 alone_ns;   /* waits of at least this time are sent one by one; 0: all are summed */
const volatile __u32 skip = 3;   /* frames of the tracepoint itself */

static inline bool is_counted(const struct task_struct *task)
{
	__u32 cpu = bpf_get_smp_processor_id(), id = by_process ? task->tgid : task->pid;
	if (by_cpu && !bpf_map_lookup_elem(&cpus, &cpu))
		return false;
	return !by_task || bpf_map_lookup_elem(&tasks, &id);
}

static inline __u64 mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0xd6e8feb86659fd93ull;
	return hash ^ hash >> 32;
}

/* Whether the ring is so full that its reader must wake up. */
static inline __u64 wakeup(void)
{
	return bpf_ringbuf_query(&copies, BPF_RB_AVAIL_DATA) > 1 << 23 ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

/* Sends a copy of the stack, unless the id is known. */
static inline void send_copy(__u64 id, const struct pt_regs *registers, __u64 sp)
{
	__u8 one = 1;
	if (bpf_map_lookup_elem(&copied, &id))
		return;
	struct offcpu_copy *copy = bpf_ringbuf_reserve(&copies, sizeof *copy, 0);
	if (!copy) {
		COUNT(losses, OFFCPU_LOST_COPY);
		return;
	}
	copy->id = id;
	__u32 bytes = register_bytes, size = 0;
	if (bytes <= sizeof copy->registers)
		bpf_probe_read_kernel(copy->registers, bytes, registers);
	for (int i = 0; i < OFFCPU_STACK_MAX / OFFCPU_CHUNK; i++) {
		__u32 at = i * OFFCPU_CHUNK;
		if (bpf_probe_read_user(copy->stack + at, OFFCPU_CHUNK, (void *)(sp + at)) < 0)
			break;
		size = at + OFFCPU_CHUNK;
	}
	copy->size = size;
	bpf_map_update_elem(&copied, &id, &one, BPF_ANY);
	bpf_ringbuf_submit(copy, wakeup());
}

/* The id of the current thread's stack in user code: where it is, and the words above the stack pointer that may be return addresses.
 * Words that are small or point into the stack change between equal call chains, and are left out. */
static inline __u64 user_stack(struct task_struct *task)
{
	__u64 at[3] = { 0 };
	__u32 zero = 0;
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &zero);
	if (!scratch || (task->flags & KERNEL_THREAD))
		return 0;
	const struct pt_regs *registers = (const void *)bpf_task_pt_regs(task);
	if (!registers)
		return 0;
	bpf_probe_read_kernel(&at[0], sizeof at[0], (const char *)registers + sp_at);
	bpf_probe_read_kernel(&at[1], sizeof at[1], (const char *)registers + ip_at);
	bpf_probe_read_kernel(&at[2], sizeof at[2], (const char *)registers + bp_at);
	__u64 hash = mix(mix(mix(task->tgid, at[0]), at[1]), at[2]);
	if (bpf_probe_read_user(scratch->words, sizeof scratch->words, (void *)at[0]) == 0)
		for (int i = 0; i < HASHED_WORDS; i++)
			if (scratch->words[i] > PAGE_ZERO && scratch->words[i] - at[0] + STACK_SPAN > 2 * STACK_SPAN && !(scratch->words[i] >> 56))
				hash = mix(hash, scratch->words[i]);
	hash += !hash;
	send_copy(hash, registers, at[0]);
	return hash;
}

/* Whether the thread waits in futex(2) for a change of a word. A word of 2 is glibc's mutex with waiters (nptl/lowlevellock.h), which has
 * its holder 8 bytes later (sysdeps/nptl/bits/struct_mutex.h); a lock with priority inheritance has the holder in the word (futex(2)). */
static inline bool find_futex(struct task_struct *task, struct offcpu_key *key)
{
	enum { WAIT = 0, LOCK_PI = 6, WAIT_BITSET = 9, LOCK_PI2 = 13, OPERATION = 127 };
	enum { HOLDER = 0x3fffffff, HOLDER_AT = 8, LOCKED_WITH_WAITERS = 2 };
	__u64 address = 0;
	__u32 call = 0, operation = 0, value = 0, holder = 0;
	if (task->flags & KERNEL_THREAD)
		return false;
	const char *registers = (const void *)bpf_task_pt_regs(task);
	bpf_probe_read_kernel(&call, sizeof call, registers + call_at);
	if (call != futex_call)
		return false;
	bpf_probe_read_kernel(&address, sizeof address, registers + argument_at);
	bpf_probe_read_kernel(&operation, sizeof operation, registers + operation_at);
	bpf_probe_read_kernel(&value, sizeof value, registers + value_at);
	operation &= OPERATION;
	if (operation == LOCK_PI || operation == LOCK_PI2) {
		bpf_probe_read_user(&holder, sizeof holder, (void *)address);
		holder &= HOLDER;
	} else if (operation != WAIT && operation != WAIT_BITSET) {
		return false;
	} else if (value == LOCKED_WITH_WAITERS) {
		bpf_probe_read_user(&holder, sizeof holder, (void *)(address + HOLDER_AT));
	}
	key->futex = address;
	key->holder = holder;
	return true;
}

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sched_entity {
	__u64 sum_exec_runtime;
};

struct task_struct___entity {
	struct sched_entity se;
};

#pragma clang attribute pop

static inline __u64 run_ns(const struct task_struct *task)
{
	const struct task_struct___entity *entity = (const void *)task;
	return BPF_CORE_READ(entity, se.sum_exec_runtime);
}

static inline void set_names(struct offcpu_sum *sum, struct task_struct *task, const struct wait *wait)
{
	bpf_probe_read_kernel_str(sum->comm, sizeof sum->comm, task->comm);
	__builtin_memcpy(sum->waker_comm, wait->waker_comm, sizeof sum->waker_comm);
}

static inline void send_wait(struct task_struct *task, const struct wait *wait, __u64 now, __u64 ns)
{
	struct offcpu_wait *sent = bpf_ringbuf_reserve(&copies, sizeof *sent, 0);
	if (!sent) {
		COUNT(losses, OFFCPU_LOST_WAIT);
		return;
	}
	sent->key = wait->key;
	sent->sum = (struct offcpu_sum){ .total = ns, .max = ns, .ended = now, .count = 1 };
	set_names(&sent->sum, task, wait);
	bpf_ringbuf_submit(sent, wakeup());
}

/* ran: how long the thread ran between the end of the wait and now. */
static inline void add_wait(struct task_struct *task, struct wait *wait, __u64 now, __u64 ran)
{
	__u64 ns = now - wait->since > ran ? now - wait->since - ran : 0;
	if (alone_ns && ns >= alone_ns) {
		send_wait(task, wait, now - ran, ns);
		wait->since = 0;
		return;
	}
	struct offcpu_sum *sum = bpf_map_lookup_elem(&sums, &wait->key);
	if (!sum) {
		struct offcpu_sum first = { 0 };
		set_names(&first, task, wait);
		bpf_map_update_elem(&sums, &wait->key, &first, BPF_NOEXIST);
		sum = bpf_map_lookup_elem(&sums, &wait->key);
	}
	wait->since = 0;
	if (!sum) {
		COUNT(losses, OFFCPU_LOST_SUM);
		return;
	}
	__sync_fetch_and_add(&sum->total, ns);
	__sync_fetch_and_add(&sum->count, 1);
	sum->ended = now;
	if (ns > sum->max)
		sum->max = ns;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempted, struct task_struct *prev, struct task_struct *next, unsigned int state)
{
	struct offcpu_key of_futex = { 0 };
	if (!preempted && (state & BLOCKED) && prev->pid && is_counted(prev) && (!futexes || find_futex(prev, &of_futex))) {
		struct wait *wait = bpf_task_storage_get(&waits, prev, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
		if (wait) {
			__u64 now = bpf_ktime_get_ns(), ran = run_ns(prev);
			/* the kernel did not report that the thread ran since its last wait */
			if (wait->since)
				add_wait(prev, wait, now, ran - wait->ran);
			wait->ran = ran;
			wait->key = (struct offcpu_key){ .tid = prev->pid, .pid = prev->tgid, .state = state & BLOCKED,
				.futex = of_futex.futex, .holder = of_futex.holder };
			wait->key.kernel_stack = bpf_get_stackid(ctx, &kernel_stacks, BPF_F_FAST_STACK_CMP | (skip & BPF_F_SKIP_FIELD_MASK));
			if (wait->key.kernel_stack < 0)
				COUNT(losses, OFFCPU_LOST_KERNEL_STACK);
			wait->key.user_stack = user_stack(prev);
			wait->waker_comm[0] = '\0';
			wait->since = now;
		} else {
			COUNT(losses, OFFCPU_LOST_TASK);
		}
	}
	struct wait *wait = bpf_task_storage_get(&waits, next, NULL, 0);
	if (wait && wait->since)
		add_wait(next, wait, bpf_ktime_get_ns(), 0);
	return 0;
}

/* In the thread that wakes the other one, or in an interrupt during it. */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task)
{
	struct wait *wait = bpf_task_storage_get(&waits, task, NULL, 0);
	struct task_struct *waker = bpf_get_current_task_btf();
	if (!wait || !wait->since)
		return 0;
	wait->key.waker = waker->pid;
	wait->key.waker_kernel_stack = bpf_get_stackid(ctx, &kernel_stacks, BPF_F_FAST_STACK_CMP | (skip & BPF_F_SKIP_FIELD_MASK));
	wait->key.waker_user_stack = user_stack(waker);
	bpf_probe_read_kernel_str(wait->waker_comm, sizeof wait->waker_comm, waker->comm);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(follow_child, struct task_struct *parent, struct task_struct *child)
{
	__u32 from = parent->tgid, to = child->tgid;
	__u8 one = 1;
	if (from != to && bpf_map_lookup_elem(&tasks, &from))
		bpf_map_update_elem(&tasks, &to, &one, BPF_ANY);
	return 0;
}

/* Adds the wait of each thread that still waits, up to now. */
SEC("iter/task")
int end_waits(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct wait *wait = task ? bpf_task_storage_get(&waits, task, NULL, 0) : NULL;
	if (wait && wait->since)
		add_wait(task, wait, bpf_ktime_get_ns(), 0);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
