/* The values of the #literals of metrics on this machine. Source: /sys/devices/system/cpu, and for the clock the processor itself. */
#pragma once
#include <stdbool.h>

/* What the user measures. */
struct metric_target {
	bool system_wide;
	bool cpus_given;         /* some CPUs alone */
};

/* The value of "#num_cpus" …; NAN: unknown. `slots`: those of a cycle, as the PMU reports them; 0: unknown. */
double metric_literal(const char *name, const struct metric_target *target, double slots);
/* Whether two threads share a core; whether the watchdog of the kernel uses a counter. */
bool metric_smt_is_on(void);
bool metric_watchdog_is_on(void);
