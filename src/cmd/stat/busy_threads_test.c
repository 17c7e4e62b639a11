#include "cmd/stat/busy_threads.h"

#include "unit.h"

TEST("threads that counted have rows in their order, and idle threads and their counters have none; a second reading starts anew")
{
	static const struct aggregate_thread threads[] = { { 10, "a" }, { 11, "b" }, { 12, "c" }, { 13, "d" } };
	static const struct stat_counter counters[] = { { 0, -1, 0 }, { 0, -1, 1 }, { 0, -1, 2 }, { 0, -1, 3 }, { 1, -1, 3 } };
	const struct aggregates_input input = {
		.counters = counters, .count = 5, .threads = threads, .thread_count = 4, .grain = STAT_THREAD,
	};
	struct aggregates a = { 0 };
	struct busy_threads busy = { 0 };
	aggregates_make(&a, &input);
	for (int round = 0; round < 2; round++) {
		busy_threads_begin(&busy, &a);
		busy_threads_mark(&busy, 3);
		busy_threads_mark(&busy, 1);
		busy_threads_number(&busy, &a);
		EXPECT_INT(busy_threads_place(&busy, &a.places.items[0]), false);
		EXPECT_INT(busy_threads_place(&busy, &a.places.items[1]), true);
		EXPECT_INT(busy_threads_place(&busy, &a.places.items[2]), false);
		EXPECT_INT(busy_threads_place(&busy, &a.places.items[4]), true);
		EXPECT_INT(busy.labels.count, 2);
		EXPECT_STR(busy.labels.items[0], "b");
		EXPECT_STR(busy.labels.items[1], "d");
		EXPECT_INT(busy.tids.items[0], 11);
		EXPECT_INT(busy.tids.items[1], 13);
		EXPECT_INT(busy.places.count, 2);
		EXPECT_INT(busy.places.items[0].aggregate, 0);
		EXPECT_INT(busy.places.items[1].aggregate, 1);
		EXPECT_INT(busy.places.items[1].event, 1);
	}
	busy_threads_fini(&busy);
	aggregates_fini(&a);
}
