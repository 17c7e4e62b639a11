#include "analysis/runs/runs.h"

#include <math.h>

#include "unit.h"

static void add_values(struct runs *runs, const char *name, enum run_side side, double middle, double spread, unsigned count)
{
	struct random_numbers random = { (uint64_t)side * 1000 + count };
	for (unsigned i = 0; i < count; i++)
		runs_add(runs, side, name, "", middle + spread * ((double)random_below(&random, 2001) / 1000 - 1));
}

TEST("a change of ten percent in noise of five is found and sized, equal counters are not marked")
{
	struct runs runs = { 0 };
	add_values(&runs, "time", RUN_A, 100, 5, 20);
	add_values(&runs, "time", RUN_B, 110, 5, 20);
	add_values(&runs, "faults", RUN_A, 70, 3, 20);
	add_values(&runs, "faults", RUN_B, 70, 3, 20);
	runs_compare(&runs);
	const struct run_series *time = &runs.list.items[0], *faults = &runs.list.items[1];
	EXPECT(time->changed && time->probability < 0.01);
	EXPECT(time->change > 0.06 && time->change < 0.14);
	EXPECT(time->interval.low < time->change && time->change < time->interval.high && time->interval.low > 0);
	EXPECT(!faults->changed);
	EXPECT(fabs(runs_largest(&runs) - time->change) < 1e-12);
	runs_fini(&runs);
}

TEST("constant counters change if they differ by more than the margin")
{
	struct runs runs = { 0 };
	for (int i = 0; i < 10; i++) {
		runs_add(&runs, RUN_A, "much", "", 1000);
		runs_add(&runs, RUN_B, "much", "", 1010);
		runs_add(&runs, RUN_A, "little", "", 1000);
		runs_add(&runs, RUN_B, "little", "", 1004);
		runs_add(&runs, RUN_A, "from nothing", "", 0);
		runs_add(&runs, RUN_B, "from nothing", "", 3);
	}
	runs_compare(&runs);
	EXPECT(runs.list.items[0].changed);
	EXPECT(!runs.list.items[1].changed);
	EXPECT(runs.list.items[2].changed && isinf(runs.list.items[2].change));
	runs_fini(&runs);
}

TEST("a counter of one side, or with one value, is not compared; the units distinguish counters")
{
	struct runs runs = { 0 };
	runs_add(&runs, RUN_A, "a", "", 1);
	runs_add(&runs, RUN_A, "a", "", 2);
	runs_add(&runs, RUN_B, "a", "ms", 1);
	runs_add(&runs, RUN_B, "a", "ms", NAN);
	runs_compare(&runs);
	EXPECT_INT(runs.list.count, 2);
	EXPECT(!runs.list.items[0].compared && !runs.list.items[1].compared);
	EXPECT_INT(runs.list.items[1].values[RUN_B].count, 1);
	EXPECT(runs_largest(&runs) == 0);
	runs_fini(&runs);
}

TEST("of 300 comparisons of equal noise in five counters at most 5 % mark one")
{
	struct random_numbers random = { 9 };
	unsigned alarms = 0;
	for (int trial = 0; trial < 300; trial++) {
		struct runs runs = { 0 };
		const char *const names[] = { "a", "b", "c", "d", "e" };
		for (int i = 0; i < 20 * 5; i++)
			for (int side = 0; side < RUN_SIDES; side++)
				runs_add(&runs, (enum run_side)side, names[i % 5], "", 100 + (double)random_below(&random, 1000) / 50);
		runs_compare(&runs);
		alarms += runs_largest(&runs) > 0;
		runs_fini(&runs);
	}
	EXPECT(alarms <= 15);
}
