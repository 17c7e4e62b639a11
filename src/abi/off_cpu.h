/* The event of record --off-cpu and its RAW payload, which perfuse adds to perf's format if it records who wakes a thread,
 * or what it waits for. */
#pragma once
#include <stdint.h>

#define OFF_CPU_EVENT "offcpu-time"
#define OFF_CPU_MAGIC 0x757063666666ull
/* The time of a sum of short waits, if long ones have samples of their own (--off-cpu-thresh). */
#define OFF_CPU_SUM_TIME 0xffffffff00000000ull

enum { OFF_CPU_FRAMES = 64 };

/* In native order, as all records after reading; followed by waker_frames addresses, the kernel part of the waker's call chain, and then,
 * if its user code was copied, the number of its registers (those that the event records), these, the size of its stack and the stack. */
struct off_cpu_raw {
	uint64_t magic;
	uint64_t count, max_ns;  /* waits, the longest one */
	uint32_t state;          /* 1: interruptible, 2: uninterruptible */
	uint32_t waker;          /* thread id; 0: an idle CPU, or unknown if its comm is empty */
	char waker_comm[16];
	uint32_t waker_frames;
	uint32_t holder;         /* thread id that the mutex at `futex` has; 0: unknown */
	uint64_t futex;          /* address that the thread waits for; 0: not recorded */
};
