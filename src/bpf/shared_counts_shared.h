/* What shared_counts.bpf.c and shared_counts.c exchange by maps. */
#pragma once
#include <linux/types.h>

enum { SHARED_READINGS = 64, SHARED_EVENTS = 256 };

/* The counts of one event, of a slot: a thread with those that it starts, or everything. In ns, except the value. */
struct shared_sum {
	__u64 value, enabled, running;
};

struct shared_event {
	__u32 reading;          /* index of its counters in `arrays` */
	__s32 cgroup;           /* index in `cgroups`; -1: all */
};

/* The slot of a thread that is counted from its next exec on has this bit. */
enum { SHARED_WAITS = 1u << 31 };

enum shared_loss { SHARED_LOST_THREAD, SHARED_LOST_SWITCH, SHARED_UNSURE_NS, SHARED_LOSSES };

enum shared_command { SHARED_READ, SHARED_START, SHARED_STOP };
