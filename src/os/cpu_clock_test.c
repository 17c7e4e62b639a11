#include "os/cpu_clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

struct tree {
	char path[32], pmu[64];
};

static void put(const struct tree *t, const char *name, long long value)
{
	char command[256];
	snprintf(command, sizeof command, "f='%s/%s'; mkdir -p \"${f%%/*}\" && echo %lld >\"$f\"", t->path, name, value);
	EXPECT_INT(system(command), 0);
}

static void tree_begin(struct tree *t)
{
	strcpy(t->path, "/tmp/cpu-clock-test-XXXXXX");
	EXPECT(mkdtemp(t->path) != NULL);
	snprintf(t->pmu, sizeof t->pmu, "%s/msr", t->path);
	for (int policy = 0; policy < 2; policy++) {
		char name[64];
		snprintf(name, sizeof name, "cpufreq/policy%d/scaling_cur_freq", policy);
		put(t, name, 2000000);
		snprintf(name, sizeof name, "cpufreq/policy%d/scaling_max_freq", policy);
		put(t, name, 3000000);
	}
}

static void tree_end(struct tree *t)
{
	char command[64];
	snprintf(command, sizeof command, "rm -rf '%s'", t->path);
	EXPECT_INT(system(command), 0);
}

/* What changed between now and after one file has another value. */
static struct cpu_clock_change after(const struct tree *t, const char *name, long long value)
{
	struct cpu_clock clock;
	struct cpu_clock_change change;
	EXPECT(cpu_clock_open(&clock, t->path, NULL));
	EXPECT_INT(clock.states.count, clock.before.policies.count);
	if (name)
		put(t, name, value);
	cpu_clock_compare(&clock, &change);
	cpu_clock_close(&clock);
	change.driver = change.governor = NULL;
	return change;
}

TEST("a clock that stays within a fiftieth has not changed")
{
	struct tree t;
	tree_begin(&t);
	EXPECT(!after(&t, NULL, 0).changed);
	EXPECT(!after(&t, "cpufreq/policy1/scaling_cur_freq", 2040000).changed);
	struct cpu_clock_change change = after(&t, "cpufreq/policy1/scaling_cur_freq", 1990000);
	EXPECT(change.changed && change.policies == 1 && !change.limits);
	EXPECT(change.low_khz == 1990000 && change.high_khz == 2040000);
	tree_end(&t);
}

TEST("transitions, thermal throttling and other limits are changes")
{
	struct tree t;
	tree_begin(&t);
	put(&t, "cpufreq/policy0/stats/total_trans", 5);
	struct cpu_clock_change change = after(&t, "cpufreq/policy0/stats/total_trans", 8);
	EXPECT(change.changed && change.transitions == 3 && change.policies == 1);
	EXPECT(change.low_khz == 2000000 && change.high_khz == 2000000);
	change = after(&t, "cpu1/thermal_throttle/core_throttle_count", 2);
	EXPECT(change.changed && change.throttles == 2 && change.policies == 0);
	change = after(&t, "cpufreq/policy1/scaling_max_freq", 2500000);
	EXPECT(change.changed && change.limits && change.policies == 0);
	tree_end(&t);
}

TEST("a machine without policies has nothing to compare")
{
	struct tree t;
	struct cpu_clock clock;
	tree_begin(&t);
	char path[64];
	snprintf(path, sizeof path, "%s/none", t.path);
	EXPECT(!cpu_clock_open(&clock, path, NULL));
	tree_end(&t);
}

TEST("the average frequency is the base frequency times APERF by MPERF")
{
	struct tree t;
	struct cpu_clock clock;
	struct cpu_clock_change change;
	tree_begin(&t);
	char command[512];
	put(&t, "cpufreq/policy0/base_frequency", 1500000);
	put(&t, "cpufreq/policy1/base_frequency", 1500000);
	put(&t, "msr/type", 1); /* software events in place of the registers: cpu-clock for both */
	snprintf(command, sizeof command, "cd %s && mkdir events && echo event=0x00 >events/aperf && echo event=0x0 >events/mperf", t.pmu);
	EXPECT_INT(system(command), 0);
	EXPECT(cpu_clock_open(&clock, t.path, t.pmu));
	if (!clock.counters.count || clock.counters.items[0].aperf < 0) {
		unit_skip("events of a CPU cannot be opened here; as root");
	} else {
		for (int i = 0; i < 20; i++) { /* on a busy machine the reading of the two may be interrupted */
			usleep(20000);
			cpu_clock_compare(&clock, &change);
			if (change.average_khz > 1200000 && change.average_khz < 1800000)
				break;
		}
		EXPECT(change.average_khz > 1200000 && change.average_khz < 1800000);
	}
	cpu_clock_close(&clock);
	tree_end(&t);
}
