#include "analysis/compare/significance.h"

#include <math.h>

#include "analysis/profile/profile_test.h"
#include "unit.h"

/* Threads 1 and 2 take turns: of every 100 samples the first has `share`, spread evenly; one sample every microsecond. */
static struct tape *recording_of(unsigned share, unsigned count)
{
	struct tape *tape = recording_new();
	for (uint64_t i = 0; i < count; i++)
		SAMPLE(tape, i * 37 % 100 < share ? 1 : 2, 1000000 + i * 1000, 0x1000);
	return tape;
}

struct pair {
	struct run runs[2];
	const struct profile *profiles[2];
	struct diff diff;
	struct significance significance;
};

static void compare(struct pair *pair, struct tape *old, struct tape *new)
{
	const struct profile_options options = { .iteration = ITERATE_SAMPLES, .time_quantum_ns = 10000 };
	EXPECT(run_open(&pair->runs[0], old, "pid,time", options));
	EXPECT(run_open(&pair->runs[1], new, "pid,time", options));
	const struct columns *columns = &pair->runs[0].columns;
	struct diff_options diff = { .compute = DIFF_DELTA, .order = 1 };
	for (size_t i = 0; i < columns->all.count; i++)
		if (columns->all.items[i].type->class != COLUMN_MEASURE && columns->all.items[i].type->id == ID_TIME)
			diff.blocks = &columns->all.items[i];
	for (int i = 0; i < 2; i++)
		pair->profiles[i] = &pair->runs[i].profile;
	diff_init(&pair->diff, pair->profiles, 2, &diff);
	significance_init(&pair->significance, &pair->diff);
}

static void close_pair(struct pair *pair)
{
	significance_fini(&pair->significance);
	diff_fini(&pair->diff);
	run_close(&pair->runs[0]);
	run_close(&pair->runs[1]);
}

TEST("a share that changed by ten points is marked, with an interval around it")
{
	struct pair pair;
	compare(&pair, recording_of(30, 10000), recording_of(40, 10000));
	EXPECT_INT(pair.diff.events[0].row_count, 2); /* the slices of a row are added up */
	const struct significance_value *value = &pair.significance.values[0][0][1];
	EXPECT(value->changed && value->probability < 0.01);
	EXPECT(value->interval.low <= 10 && value->interval.high >= 10 && value->interval.low > 9 && value->interval.high < 11);
	EXPECT(fabs(significance_largest(&pair.significance) - 10) < 0.01);
	EXPECT_INT(pair.significance.least_slices, SIGNIFICANCE_SLICES);
	close_pair(&pair);
}

TEST("equal recordings have no change, nor have those whose shares differ by less than the margin")
{
	struct pair pair;
	compare(&pair, recording_of(30, 10000), recording_of(30, 20000));
	EXPECT(!pair.significance.values[0][0][1].changed && !pair.significance.values[0][1][1].changed);
	EXPECT(significance_largest(&pair.significance) == 0);
	close_pair(&pair);
}

TEST("the same change is noise where the shares of slices differ as much")
{
	struct tape *old = recording_new(), *new = recording_new();
	struct pair pair;
	/* the first tenth or fifth of the time belongs to thread 1 alone */
	for (uint64_t i = 0; i < 2000; i++) {
		SAMPLE(old, i < 200 ? 1 : 2, 1000000 + i * 1000, 0x1000);
		SAMPLE(new, i < 400 ? 1 : 2, 1000000 + i * 1000, 0x1000);
	}
	compare(&pair, old, new);
	EXPECT(!pair.significance.values[0][0][1].changed);
	EXPECT(pair.significance.values[0][0][1].interval.low < 0 && pair.significance.values[0][0][1].interval.high > 10);
	close_pair(&pair);
}

TEST("few samples, or few time slices, are no evidence")
{
	struct tape *old = recording_new(), *new = recording_new();
	struct pair pair;
	compare(&pair, recording_of(30, 40), recording_of(40, 40));
	EXPECT(!pair.significance.values[0][0][1].changed);
	close_pair(&pair);
	for (uint64_t i = 0; i < 1000; i++) {
		SAMPLE(old, 1, 1000 + i % 3 * 100000, 0x1000);
		SAMPLE(new, 2, 1000 + i % 3 * 100000, 0x1000);
	}
	compare(&pair, old, new);
	EXPECT_INT(pair.significance.least_slices, 3);
	EXPECT(!pair.significance.values[0][0][1].changed);
	close_pair(&pair);
}
