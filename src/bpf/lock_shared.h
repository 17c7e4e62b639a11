/* What lock_contention.bpf.c and lock_contention.c exchange by maps. */
#pragma once
#include <linux/types.h>

/* What waits are summed by; the numbers are those of `mode` in the program. */
enum lock_mode { LOCK_BY_ADDRESS, LOCK_BY_TASK, LOCK_BY_CALLER, LOCK_BY_CGROUP };

/* Bits of the tracepoints' flags (include/trace/events/lock.h). */
enum lock_flag {
	LOCK_FLAG_SPIN = 1, LOCK_FLAG_READ = 2, LOCK_FLAG_WRITE = 4, LOCK_FLAG_RT = 8, LOCK_FLAG_PERCPU = 16, LOCK_FLAG_MUTEX = 32,
};

/* Further bits, for locks that every process has. */
#define LOCK_IS_MMAP 0x80000000u
#define LOCK_IS_SIGHAND 0x40000000u

/* Slots of the counters: waits that are not in the sums. */
enum lock_loss { LOCK_LOST_TASK, LOCK_LOST_STACK, LOCK_LOST_TIME, LOCK_LOST_DATA, LOCK_LOSSES };

/* A wait that has begun. */
struct lock_wait {
	__u64 since, lock;   /* ns of CLOCK_MONOTONIC; lock 0: no wait */
	__u32 flags;         /* of owners: the owner's thread id, ~0 if unknown */
	__s32 stack;         /* id in `stacks`; < 0: missing */
	__u64 owner_stack;   /* id in `owner_stacks`; 0: unknown */
	__u32 kind, unused;  /* flags of the tracepoint */
};

/* The same as the iterator reports it. */
struct lock_open_wait {
	struct lock_wait wait;
	__u32 tid, unused;
};

struct lock_key {
	__s32 stack;
	__u32 task;
	__u64 address;       /* of the lock, or the id of a cgroup */
};

struct lock_sum {
	__u64 total, min, max; /* ns */
	__u32 count, flags;
};

struct lock_task {
	char comm[16];
};
