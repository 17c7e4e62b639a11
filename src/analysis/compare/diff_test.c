#include "analysis/compare/diff.h"

#include <math.h>

#include "analysis/profile/profile_test.h"
#include "unit.h"

static const struct profile_options plain = { .iteration = ITERATE_SAMPLES };

/* Each has a period of 10. */
static void put_samples(struct tape *tape, uint32_t tid, unsigned count, uint64_t ip)
{
	for (uint64_t i = 1; i <= count; i++)
		SAMPLE(tape, tid, i, ip);
}

/* Rows are threads: 1 is in both recordings, 2 only in the old one, 3 and 4 only in the new one. */
static void open_pair(struct run runs[static 2])
{
	struct tape *old = recording_new(), *new = recording_new();
	put_samples(old, 1, 1, 0x1000);
	put_samples(old, 1, 5, 0x2000);
	put_samples(old, 2, 4, 0x1000);
	put_samples(new, 1, 10, 0x5000);
	put_samples(new, 3, 6, 0x1000);
	put_samples(new, 4, 4, 0x1000);
	EXPECT(run_open(&runs[0], old, "pid", plain));
	EXPECT(run_open(&runs[1], new, "pid", plain));
}

static void compare(struct diff *diff, struct run runs[static 2], const struct profile *profiles[static 2], struct diff_options options)
{
	open_pair(runs);
	profiles[0] = &runs[0].profile;
	profiles[1] = &runs[1].profile;
	diff_init(diff, profiles, 2, &options);
}

static void close_all(struct diff *diff, struct run runs[static 2])
{
	diff_fini(diff);
	run_close(&runs[0]);
	run_close(&runs[1]);
}

static int32_t tid_at(const struct diff *diff, size_t row)
{
	return diff->events[0].rows[row].shown->entry->tid;
}

TEST("a row has the change of its share of the recording, and rows of one recording follow")
{
	struct run runs[2];
	struct diff diff;
	const struct profile *profiles[2];
	compare(&diff, runs, profiles, (struct diff_options){ .compute = DIFF_DELTA, .order = 1 });
	const struct diff_event *event = &diff.events[0];
	EXPECT_INT(event->row_count, 4);
	EXPECT_INT(tid_at(&diff, 0), 3);
	EXPECT_INT(tid_at(&diff, 1), 4);
	EXPECT_INT(tid_at(&diff, 2), 1);
	EXPECT_INT(tid_at(&diff, 3), 2);
	EXPECT(fabs(event->rows[2].values[1].change - (50 - 60)) < 1e-9);
	EXPECT_INT(event->rows[2].items[0]->period, 60);
	EXPECT_INT(event->rows[2].items[0]->samples, 6);
	EXPECT(diff_row_is_new(&event->rows[0]));
	EXPECT(event->rows[3].items[1] == NULL);
	EXPECT_INT(event->base_total, 100);
	close_all(&diff, runs);
}

TEST("with the baseline's rows alone its shares are those of the rows that are left")
{
	struct run runs[2];
	struct diff diff;
	const struct profile *profiles[2];
	compare(&diff, runs, profiles, (struct diff_options){ .compute = DIFF_DELTA, .order = 1, .baseline_only = true });
	EXPECT_INT(diff.events[0].row_count, 1);
	EXPECT_INT(tid_at(&diff, 0), 1);
	EXPECT_INT(diff.events[0].base_total, 60);
	EXPECT(fabs(diff.events[0].rows[0].values[1].change - (50 - 60)) < 1e-9); /* of all samples */
	close_all(&diff, runs);
}

TEST("ratios and weighted periods compare periods; a ratio to nothing is the last")
{
	struct run runs[2];
	struct diff diff;
	const struct profile *profiles[2];
	compare(&diff, runs, profiles, (struct diff_options){ .compute = DIFF_RATIO, .order = 1 });
	EXPECT_INT(tid_at(&diff, 0), 1);
	EXPECT(fabs(diff.events[0].rows[0].values[1].change - 100 / 60.0) < 1e-9);
	EXPECT_INT(tid_at(&diff, 3), 2);
	close_all(&diff, runs);
	compare(&diff, runs, profiles, (struct diff_options){ .compute = DIFF_WEIGHTED, .order = 1, .old_weight = 2, .new_weight = 1 });
	EXPECT_INT(diff.events[0].rows[0].values[1].weighted, 100 - 2 * 60);
	close_all(&diff, runs);
}

TEST("absolute deltas order by size, -o 0 by the baseline")
{
	struct run runs[2];
	struct diff diff;
	const struct profile *profiles[2];
	compare(&diff, runs, profiles, (struct diff_options){ .compute = DIFF_DELTA_ABS, .order = 1 });
	EXPECT_INT(tid_at(&diff, 0), 3); /* +30 */
	EXPECT_INT(tid_at(&diff, 1), 4); /* +20 */
	EXPECT_INT(tid_at(&diff, 2), 1); /* -10 */
	close_all(&diff, runs);
	compare(&diff, runs, profiles, (struct diff_options){ .compute = DIFF_DELTA_ABS });
	EXPECT_INT(tid_at(&diff, 0), 1);
	EXPECT_INT(tid_at(&diff, 1), 2);
	close_all(&diff, runs);
}

TEST("code without a symbol is one row whatever its addresses are")
{
	struct run runs[2];
	struct diff diff;
	struct tape *old = recording_new(), *new = recording_new();
	put_samples(old, 1, 3, 0x1000);
	put_samples(old, 1, 3, 0x2000);
	put_samples(new, 1, 4, 0x3000);
	EXPECT(run_open(&runs[0], old, "sym", plain));
	EXPECT(run_open(&runs[1], new, "sym", plain));
	diff_init(&diff, (const struct profile *[]){ &runs[0].profile, &runs[1].profile }, 2, &(struct diff_options){ .order = 1 });
	EXPECT_INT(diff.events[0].row_count, 1);
	EXPECT_INT(diff.events[0].rows[0].items[0]->period, 60);
	EXPECT_INT(diff.events[0].rows[0].items[1]->period, 40);
	close_all(&diff, runs);
}
