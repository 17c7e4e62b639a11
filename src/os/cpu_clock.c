#include "os/cpu_clock.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/attr.h"
#include "os/counter.h"
#include "os/file.h"

/* Frequencies that differ by less than one part in this number count as equal. */
enum { EQUAL_PART = 50 };

static int64_t read_number(const char *root, const char *format, unsigned number)
{
	char path[PATH_MAX], name[96];
	int64_t value = 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(name, sizeof name, format, number);
#pragma GCC diagnostic pop
	return snprintf(path, sizeof path, "%s/%s", root, name) < (int)sizeof path && file_number(path, &value) && value > 0 ? value : 0;
}

static struct cpu_clock_state read_state(const char *root, unsigned policy)
{
	return (struct cpu_clock_state){
		.current_khz = read_number(root, "cpufreq/policy%u/scaling_cur_freq", policy),
		.min_khz = read_number(root, "cpufreq/policy%u/scaling_min_freq", policy),
		.max_khz = read_number(root, "cpufreq/policy%u/scaling_max_freq", policy),
		.transitions = (uint64_t)read_number(root, "cpufreq/policy%u/stats/total_trans", policy),
		.throttles = (uint64_t)read_number(root, "cpu%u/thermal_throttle/core_throttle_count", policy),
	};
}

/* The number of an event, from "event=0x02"; false: the PMU has no such event. */
static bool event_config(const char *pmu, const char *name, uint64_t *config)
{
	char path[PATH_MAX], line[64];
	unsigned long long value;
	if (snprintf(path, sizeof path, "%s/events/%s", pmu, name) >= (int)sizeof path || !file_line(path, line, sizeof line) ||
	    sscanf(line, "event=%llx", &value) != 1)
		return false;
	*config = value;
	return true;
}

static int open_counter(uint32_t type, uint64_t config, int cpu)
{
	struct attr attr = { .type = type, .config = config };
	int fd = counter_open(&attr, -1, cpu, -1, 0);
	return fd < 0 ? -1 : fd;
}

static void open_counters(struct cpu_clock *clock, const char *pmu)
{
	char path[PATH_MAX];
	int64_t type;
	uint64_t aperf, mperf;
	if (snprintf(path, sizeof path, "%s/type", pmu) >= (int)sizeof path || !file_number(path, &type) || type < 0 || type > UINT32_MAX ||
	    !event_config(pmu, "aperf", &aperf) || !event_config(pmu, "mperf", &mperf))
		return;
	for (size_t i = 0; i < clock->before.policies.count; i++) {
		int cpu = (int)clock->before.policies.items[i].number;
		vec_add(&clock->counters);
		clock->counters.items[i].aperf = open_counter((uint32_t)type, aperf, cpu);
		clock->counters.items[i].mperf = open_counter((uint32_t)type, mperf, cpu);
	}
}

bool cpu_clock_open(struct cpu_clock *clock, const char *root, const char *pmu)
{
	*clock = (struct cpu_clock){ 0 };
	if (strlen(root) >= sizeof clock->root)
		return false;
	strcpy(clock->root, root);
	cpufreq_read(&clock->before, root);
	if (!clock->before.policies.count) {
		cpufreq_fini(&clock->before);
		return false;
	}
	for (size_t i = 0; i < clock->before.policies.count; i++)
		vec_push(&clock->states, read_state(root, clock->before.policies.items[i].number));
	if (pmu)
		open_counters(clock, pmu);
	return true;
}

static bool differs(int64_t a, int64_t b)
{
	return a && b && llabs(a - b) > (a > b ? a : b) / EQUAL_PART;
}

static void widen(struct cpu_clock_change *change, int64_t khz)
{
	if (khz && (!change->low_khz || khz < change->low_khz))
		change->low_khz = khz;
	if (khz > change->high_khz)
		change->high_khz = khz;
}

static uint64_t grown(uint64_t before, uint64_t after)
{
	return after > before ? after - before : 0;
}

static void compare_policy(const struct cpufreq_policy *policy, const struct cpu_clock_state *before, const struct cpu_clock_state *after,
	struct cpu_clock_change *change)
{
	uint64_t transitions = grown(before->transitions, after->transitions);
	change->transitions += transitions;
	change->throttles += grown(before->throttles, after->throttles);
	change->limits |= before->min_khz != after->min_khz || before->max_khz != after->max_khz;
	if (!transitions && !differs(before->current_khz, after->current_khz))
		return;
	if (!change->policies++) {
		change->driver = policy->driver;
		change->governor = policy->governor;
	}
	widen(change, before->current_khz);
	widen(change, after->current_khz);
}

static uint64_t read_counter(int fd)
{
	uint64_t value = 0;
	return fd >= 0 && counter_read(fd, &value, sizeof value) == (ssize_t)sizeof value ? value : 0;
}

/* MPERF counts at the base frequency while the CPU runs, APERF at its frequency. */
static int64_t average(const struct cpu_clock *clock)
{
	double actual = 0, base = 0;
	for (size_t i = 0; i < clock->counters.count; i++) {
		double mperf = (double)read_counter(clock->counters.items[i].mperf);
		if (!clock->before.policies.items[i].base_khz || mperf == 0)
			continue;
		actual += (double)read_counter(clock->counters.items[i].aperf) * (double)clock->before.policies.items[i].base_khz;
		base += mperf;
	}
	return base > 0 ? (int64_t)(actual / base) : 0;
}

void cpu_clock_compare(struct cpu_clock *clock, struct cpu_clock_change *change)
{
	*change = (struct cpu_clock_change){ .driver = clock->before.policies.items[0].driver,
		.governor = clock->before.policies.items[0].governor };
	for (size_t i = 0; i < clock->before.policies.count; i++) {
		const struct cpufreq_policy *policy = &clock->before.policies.items[i];
		struct cpu_clock_state after = read_state(clock->root, policy->number);
		compare_policy(policy, &clock->states.items[i], &after, change);
	}
	change->average_khz = average(clock);
	change->changed = change->policies || change->throttles || change->limits;
}

void cpu_clock_close(struct cpu_clock *clock)
{
	for (size_t i = 0; i < clock->counters.count; i++) {
		if (clock->counters.items[i].aperf >= 0)
			counter_close(clock->counters.items[i].aperf);
		if (clock->counters.items[i].mperf >= 0)
			counter_close(clock->counters.items[i].mperf);
	}
	vec_fini(&clock->counters);
	vec_fini(&clock->states);
	cpufreq_fini(&clock->before);
}
