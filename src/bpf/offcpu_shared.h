/* What offcpu.bpf.c and offcpu.c exchange by maps. */
#pragma once
#include <linux/types.h>

enum { OFFCPU_REGISTERS_MAX = 384, OFFCPU_STACK_MAX = 8192, OFFCPU_CHUNK = 256, OFFCPU_FRAMES = 64 };

enum offcpu_loss { OFFCPU_LOST_TASK, OFFCPU_LOST_SUM, OFFCPU_LOST_COPY, OFFCPU_LOST_KERNEL_STACK, OFFCPU_LOST_WAIT, OFFCPU_LOSSES };

/* What waits are summed by. User stacks have an id: a hash of what distinguishes them. 0: no user stack. */
struct offcpu_key {
	__u32 tid, pid;
	__u32 state;            /* TASK_INTERRUPTIBLE (1), TASK_UNINTERRUPTIBLE (2) */
	__s32 kernel_stack;     /* id in kernel_stacks; < 0: missing */
	__u64 user_stack;
	__u64 waker_user_stack;
	__s32 waker_kernel_stack;
	__u32 waker;            /* thread id; 0: an idle CPU, or unknown if its comm is empty */
	__u64 futex;            /* address that the thread waits for, if futexes alone are counted */
	__u32 holder, unused;   /* thread id in the mutex at this address; 0: unknown */
};

struct offcpu_sum {
	__u64 total, max, ended; /* ns; of CLOCK_MONOTONIC */
	__u64 count;
	char comm[16], waker_comm[16];
};

/* One wait that is not in the sums, sent when it ends; its sum has a count of 1. */
struct offcpu_wait {
	struct offcpu_key key;
	struct offcpu_sum sum;
};

/* The registers and the stack of a thread in user code, sent once for each user stack. */
struct offcpu_copy {
	__u64 id;
	__u32 size, unused;      /* bytes of stack */
	__u8 registers[OFFCPU_REGISTERS_MAX]; /* struct pt_regs */
	__u8 stack[OFFCPU_STACK_MAX];
};
