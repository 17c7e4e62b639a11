/* Whether the clock of the CPUs changed during a run: their frequency, limits, transitions and thermal throttling before and after it,
 * and the average frequency by the counters APERF and MPERF where the machine has them. Prints nothing. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "os/cpufreq.h"

#define CPU_CLOCK_PMU "/sys/bus/event_source/devices/msr"

struct cpu_clock_state {
	int64_t current_khz, min_khz, max_khz;
	uint64_t transitions, throttles;
};

struct cpu_clock_counters {
	int aperf, mperf;          /* -1: not counted */
};

struct cpu_clock {
	struct cpufreq before;
	VEC(struct cpu_clock_state) states;      /* of each policy of `before` */
	VEC(struct cpu_clock_counters) counters; /* on the first CPU of each policy; empty: not counted */
	char root[256];
};

struct cpu_clock_change {
	bool changed;                  /* any of what follows */
	uint32_t policies;             /* whose clock differed by more than a fiftieth, or which changed it in between */
	int64_t low_khz, high_khz;     /* of them, the lowest and highest frequency that was seen */
	uint64_t transitions;          /* of all policies; 0 also if the driver does not count them */
	uint64_t throttles;            /* thermal */
	bool limits;                   /* another program changed limits */
	int64_t average_khz;           /* by APERF and MPERF over all CPUs; 0: unknown */
	const char *driver, *governor; /* of the first policy that changed; valid until cpu_clock_close */
};

/* Begins; false: the machine has no frequency driver, and nothing is to be closed. root: CPUFREQ_ROOT; pmu: CPU_CLOCK_PMU or NULL, which
 * does not open counters. */
bool cpu_clock_open(struct cpu_clock *clock, const char *root, const char *pmu);
/* Compares with the state at the begin. */
void cpu_clock_compare(struct cpu_clock *clock, struct cpu_clock_change *change);
void cpu_clock_close(struct cpu_clock *clock);
