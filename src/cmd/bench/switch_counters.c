#include "cmd/bench/switch_counters.h"

#include "os/counter.h"

enum { TYPE_HARDWARE = 0, TYPE_CACHE = 3, CPU_CYCLES = 0, INSTRUCTIONS = 1, CACHE_MISSES = 3, DTLB = 3, READS = 0, MISSES = 1 };

const struct switch_event switch_events[SWITCH_COUNTERS] = {
	[SWITCH_CYCLES] = { TYPE_HARDWARE, CPU_CYCLES }, [SWITCH_INSTRUCTIONS] = { TYPE_HARDWARE, INSTRUCTIONS },
	[SWITCH_CACHE_MISSES] = { TYPE_HARDWARE, CACHE_MISSES }, [SWITCH_DTLB_MISSES] = { TYPE_CACHE, DTLB | READS << 8 | MISSES << 16 },
};

void switch_counters_begin(void *context)
{
	struct switch_counters *counters = context;
	for (unsigned i = 0; i < SWITCH_COUNTERS; i++) {
		const struct attr attr = { .type = counters->events[i].type, .config = counters->events[i].config,
			.flags = UINT64_C(1) << ATTR_INHERIT, .read_format = READ_TOTAL_TIME_ENABLED | READ_TOTAL_TIME_RUNNING };
		counters->fds[i] = counter_open(&attr, 0, -1, -1, 0);
	}
}

void switch_counters_end(void *context)
{
	struct switch_counters *counters = context;
	for (unsigned i = 0; i < SWITCH_COUNTERS; i++) {
		struct { uint64_t value, enabled, running; } read;
		struct switch_count *count = &counters->counts[i];
		*count = (struct switch_count){ 0 };
		if (counters->fds[i] < 0)
			continue;
		if (counter_read(counters->fds[i], &read, sizeof read) == sizeof read && read.running) {
			double share = read.running < read.enabled ? (double)read.enabled / (double)read.running : 1;
			*count = (struct switch_count){ true, share > 1 ? (uint64_t)((double)read.value * share + 0.5) : read.value };
		}
		counter_close(counters->fds[i]);
	}
}
