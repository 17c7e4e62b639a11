#include "analysis/annotate/event_columns.h"

#include "unit.h"

TEST("the first event's columns have plain names, those of others the event's name")
{
	static const struct table_column own[] = { { "address", "Address", NULL, CELL_ADDRESS } };
	struct event_columns set = { 0 };
	event_columns_add_own(&set, own, 1);
	event_columns_add(&set, 3, "cycles");
	event_columns_add(&set, 7, "faults");
	EXPECT_INT(set.columns.count, 1 + 2 * EVENT_COLUMNS);
	EXPECT_INT(set.events.items[1], 7);
	EXPECT_STR(set.columns.items[1].name, "samples");
	EXPECT_STR(set.columns.items[2].unit, "cycles");
	EXPECT_STR(set.columns.items[4].name, "samples:faults");
	EXPECT_STR(set.columns.items[6].name, "share:faults");
	EXPECT(!set.columns.items[1].unit && !set.columns.items[3].unit);
	event_columns_fini(&set);
}

TEST("a cell has the samples, the period, or the period's share of the total")
{
	const struct hit_count count = { .samples = 2, .period = 30 };
	EXPECT_INT(event_columns_cell(EVENT_SAMPLES, count, 60).count, 2);
	EXPECT_INT(event_columns_cell(EVENT_PERIOD, count, 60).count, 30);
	struct cell share = event_columns_cell(EVENT_SHARE, count, 60);
	EXPECT_INT(share.kind, CELL_SHARE);
	EXPECT_INT(share.share.part, 30);
	EXPECT_INT(share.share.whole, 60);
}
