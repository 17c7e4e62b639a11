/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Sums the waits for locks of the kernel, between the tracepoints contention_begin and contention_end (since Linux 5.19;
 * include/trace/events/lock.h). A wait for a spinning lock is stored for its CPU, as the thread cannot move and memory cannot be
 * allocated there; others are stored for their thread. A lock taken during a wait is not a wait of its own. */
#include "bpf/cgroup.bpf.h"
#include "bpf/common.bpf.h"
#include "bpf/lock_shared.h"

enum { ENTRIES = 16384, NOT_EXISTING = 17, TOO_BIG = 7, OWNER_FRAMES_MAX = 127 };

#define FILTER_MAP(name, type_of_key) \
	struct { \
		__uint(type, BPF_MAP_TYPE_HASH); \
		__uint(max_entries, 1); \
		__type(key, type_of_key); \
		__type(value, __u8); \
	} name SEC(".maps")

FILTER_MAP(cpus, __u32);
FILTER_MAP(tasks, __u32);
FILTER_MAP(types, __u32);
FILTER_MAP(addresses, __u64);
FILTER_MAP(cgroups, __u64);
COUNTERS_MAP(losses, LOCK_LOSSES);

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u64)); /* times the depth: loader_value_size */
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct lock_wait);
} task_waits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct lock_wait);
} cpu_waits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ENTRIES);
	__type(key, struct lock_key);
	__type(value, struct lock_sum);
} sums SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct lock_task);
} comms SEC(".maps");

/* Call chains of threads that own a lock; values have owner_bytes bytes (loader_value_size), 0 after the last frame. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u64));
	__uint(value_size, sizeof(__u64));
} owner_stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u64));
} owner_frames SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct lock_sum);
} owner_sums SEC(".maps");

/* Since Linux 6.2; without it want_owner_stack is false, and the verifier removes the calls. */
extern struct task_struct *bpf_task_from_pid(int pid) __ksym __weak;
extern void bpf_task_release(struct task_struct *task) __ksym __weak;

const volatile bool by_cpu, by_task, by_process, by_type, by_address, by_cgroup; /* which filters apply */
const volatile bool follow;         /* children of the filtered processes, too */
const volatile bool want_stack, want_owner, want_owner_stack;
const volatile __u32 owner_bytes = sizeof(__u64);
const volatile __u32 stack_skip = 0;
const volatile __u32 mode = 0;      /* enum lock_mode */

bool sums_full;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct owner_word {
	long counter;
};

struct mutex {
	struct owner_word owner;
};

struct rw_semaphore {
	struct owner_word owner;
};

struct spinlock {
	int raw;
};

struct mm_struct {
	struct rw_semaphore mmap_lock;
};

struct sighand_struct {
	struct spinlock siglock;
};

struct task_struct___places {
	struct mm_struct *mm;
	struct sighand_struct *sighand;
};

#pragma clang attribute pop

static inline bool is_counted(__u64 lock, __u32 flags)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u64 id = bpf_get_current_pid_tgid();
	__u32 task = by_process ? id >> 32 : id;
	if (by_cpu && !bpf_map_lookup_elem(&cpus, &cpu))
		return false;
	if (by_task && !bpf_map_lookup_elem(&tasks, &task))
		return false;
	if (by_type && !bpf_map_lookup_elem(&types, &flags))
		return false;
	if (by_address && !bpf_map_lookup_elem(&addresses, &lock))
		return false;
	if (by_cgroup) {
		__u64 cgroup = cgroup_of_current();
		return bpf_map_lookup_elem(&cgroups, &cgroup) != NULL;
	}
	return true;
}

/* The thread that owns a sleeping lock. The low bits of the word are flags of the lock. */
static inline struct task_struct *owner_of(__u64 lock, __u32 flags)
{
	__u64 owner = 0;
	const struct mutex *mutex = (const void *)lock;
	const struct rw_semaphore *semaphore = (const void *)lock;
	if ((flags & LOCK_FLAG_MUTEX) && bpf_core_field_exists(mutex->owner))
		owner = BPF_CORE_READ(mutex, owner.counter);
	else if ((flags == LOCK_FLAG_READ || flags == LOCK_FLAG_WRITE) && bpf_core_field_exists(semaphore->owner))
		owner = BPF_CORE_READ(semaphore, owner.counter);
	return (void *)(owner & ~7ul);
}

/* Stores the call chain of a thread; returns its id, 0: unknown. */
static inline __u64 owner_stack(int tid)
{
	__u32 zero = 0;
	__u64 id = 0, *frames = bpf_map_lookup_elem(&owner_frames, &zero);
	struct task_struct *owner = frames ? bpf_task_from_pid(tid) : NULL;
	if (!owner)
		return 0;
	long bytes = bpf_get_task_stack(owner, frames, owner_bytes, 0);
	bpf_task_release(owner);
	for (int i = 0; i < OWNER_FRAMES_MAX && (i + 1) * sizeof *frames <= owner_bytes; i++) {
		if (i * (long)sizeof *frames >= bytes)
			frames[i] = 0;
		id = (id ^ frames[i]) * 0x9e3779b97f4a7c15ull;
		id ^= id >> 32;
	}
	if (bytes <= 0)
		return 0;
	id += !id;
	bpf_map_update_elem(&owner_stacks, &id, frames, BPF_NOEXIST);
	return id;
}

static inline void note_comm(const struct task_struct *task, __u32 tid)
{
	struct lock_task known = { 0 };
	if (bpf_map_lookup_elem(&comms, &tid))
		return;
	bpf_probe_read_kernel_str(known.comm, sizeof known.comm, task->comm);
	bpf_map_update_elem(&comms, &tid, &known, BPF_NOEXIST);
}

static inline struct lock_wait *wait_to_begin(__u32 flags)
{
	__u32 zero = 0;
	if ((flags & (LOCK_FLAG_SPIN | LOCK_FLAG_MUTEX)) == LOCK_FLAG_SPIN) {
		struct lock_wait *wait = bpf_map_lookup_elem(&cpu_waits, &zero);
		return wait && !wait->lock ? wait : NULL;
	}
	struct lock_wait *wait = bpf_task_storage_get(&task_waits, bpf_get_current_task_btf(), NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!wait)
		COUNT(losses, LOCK_LOST_TASK);
	return wait && !wait->lock ? wait : NULL;
}

SEC("tp_btf/contention_begin")
int BPF_PROG(contention_begin, void *address, unsigned int flags)
{
	__u64 lock = (__u64)address;
	if (!is_counted(lock, flags))
		return 0;
	struct lock_wait *wait = wait_to_begin(flags);
	if (!wait)
		return 0;
	wait->flags = wait->kind = flags;
	wait->stack = 0;
	wait->owner_stack = 0;
	if (want_stack) {
		wait->stack = bpf_get_stackid(ctx, &stacks, BPF_F_FAST_STACK_CMP | (stack_skip & BPF_F_SKIP_FIELD_MASK));
		if (wait->stack < 0)
			COUNT(losses, LOCK_LOST_STACK);
	}
	if (mode == LOCK_BY_TASK && want_owner) {
		struct task_struct *owner = owner_of(lock, flags);
		wait->flags = ~0u;
		int tid = 0;
		if (owner && bpf_probe_read_kernel(&tid, sizeof tid, __builtin_preserve_access_index(&owner->pid)) == 0) {
			struct lock_task known = { 0 };
			wait->flags = tid;
			if (want_owner_stack)
				wait->owner_stack = owner_stack(tid);
			bpf_core_read_str(known.comm, sizeof known.comm, &owner->comm);
			bpf_map_update_elem(&comms, &tid, &known, BPF_NOEXIST);
		}
	} else if (mode == LOCK_BY_TASK) {
		note_comm(bpf_get_current_task_btf(), bpf_get_current_pid_tgid());
	}
	wait->lock = lock;
	wait->since = bpf_ktime_get_ns();
	return 0;
}

static inline __u32 common_lock(__u64 lock, __u32 flags)
{
	const struct task_struct___places *task = (void *)bpf_get_current_task();
	if (flags == LOCK_FLAG_READ || flags == LOCK_FLAG_WRITE) {
		struct mm_struct *mm = BPF_CORE_READ(task, mm);
		return mm && bpf_core_field_exists(mm->mmap_lock) && (__u64)&mm->mmap_lock == lock ? LOCK_IS_MMAP : 0;
	}
	if (flags == LOCK_FLAG_SPIN) {
		struct sighand_struct *sighand = BPF_CORE_READ(task, sighand);
		return sighand && (__u64)&sighand->siglock == lock ? LOCK_IS_SIGHAND : 0;
	}
	return 0;
}

static inline void add_to_sum(void *map, const void *key, const struct lock_wait *wait, __u32 flags, __u64 ns)
{
	struct lock_sum *sum = bpf_map_lookup_elem(map, key);
	if (!sum) {
		struct lock_sum first = { .total = ns, .min = ns, .max = ns, .count = 1, .flags = flags };
		if (mode == LOCK_BY_ADDRESS)
			first.flags |= common_lock(wait->lock, flags);
		long status = sums_full ? -TOO_BIG : bpf_map_update_elem(map, key, &first, BPF_NOEXIST);
		if (status == 0)
			return;
		if (status == -TOO_BIG)
			sums_full = true;
		/* another CPU may have added it meanwhile */
		sum = status == -NOT_EXISTING ? bpf_map_lookup_elem(map, key) : NULL;
		if (!sum) {
			COUNT(losses, LOCK_LOST_DATA);
			return;
		}
	}
	__sync_fetch_and_add(&sum->total, ns);
	__sync_fetch_and_add(&sum->count, 1);
	if (sum->max < ns)
		sum->max = ns;
	if (sum->min > ns)
		sum->min = ns;
}

SEC("tp_btf/contention_end")
int BPF_PROG(contention_end, void *address)
{
	__u32 zero = 0;
	__u64 lock = (__u64)address;
	struct lock_key key = { 0 };
	/* a thread that spins does not wait for a sleeping lock before it has the spinning one */
	struct lock_wait *wait = bpf_map_lookup_elem(&cpu_waits, &zero);
	if (!wait || !wait->lock)
		wait = bpf_task_storage_get(&task_waits, bpf_get_current_task_btf(), NULL, 0);
	if (!wait || wait->lock != lock)
		return 0;
	__s64 ns = bpf_ktime_get_ns() - wait->since;
	if (ns < 0) {
		COUNT(losses, LOCK_LOST_TIME);
		wait->lock = 0;
		return 0;
	}
	if (mode == LOCK_BY_TASK)
		key.task = want_owner ? wait->flags : bpf_get_current_pid_tgid();
	else if (mode == LOCK_BY_ADDRESS)
		key.address = lock;
	else if (mode == LOCK_BY_CGROUP)
		key.address = cgroup_of_current();
	if (want_stack)
		key.stack = wait->stack;
	add_to_sum(&sums, &key, wait, wait->flags, ns);
	if (want_owner_stack && wait->owner_stack) {
		__u64 id = wait->owner_stack;
		add_to_sum(&owner_sums, &id, wait, wait->kind, ns);
	}
	wait->lock = 0;
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(follow_child, struct task_struct *parent, struct task_struct *child)
{
	__u32 from = parent->tgid, to = child->tgid;
	__u8 one = 1;
	if (follow && from != to && bpf_map_lookup_elem(&tasks, &from))
		bpf_map_update_elem(&tasks, &to, &one, BPF_ANY);
	return 0;
}

SEC("tp_btf/sched_process_free")
int BPF_PROG(forget_process, struct task_struct *task)
{
	__u32 id = task->tgid;
	if (task->pid == task->tgid)
		bpf_map_delete_elem(&tasks, &id);
	return 0;
}

/* Writes the waits that have not ended. */
SEC("iter/task")
int open_waits(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	if (!task)
		return 0;
	struct lock_wait *wait = bpf_task_storage_get(&task_waits, task, NULL, 0);
	if (!wait || !wait->lock)
		return 0;
	struct lock_open_wait open = { .wait = *wait, .tid = task->pid };
	bpf_seq_write(ctx->meta->seq, &open, sizeof open);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
