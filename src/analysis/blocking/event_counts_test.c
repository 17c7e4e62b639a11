#include "analysis/blocking/event_counts.h"

#include "unit.h"

TEST("events after switches are compared with as many instructions elsewhere")
{
	enum { CACHE = 3, TLB = 5 };
	struct event_counts counts = { 0 };
	const struct lost_samples samples = { .instructions = { 1000, 4000 }, .instruction_squares = { 1e4, 4e4 } };
	for (unsigned i = 0; i < 10; i++)
		event_counts_add(&counts, CACHE, false, 7);
	for (unsigned i = 0; i < 16; i++)
		event_counts_add(&counts, CACHE, true, 5);
	event_counts_add(&counts, TLB, true, 8);
	EXPECT_INT(counts.list.count, 2);
	EXPECT_INT(counts.list.items[0].name, CACHE);
	struct event_extra extra = event_extra_of(&counts.list.items[0], &samples);
	EXPECT(extra.known);
	EXPECT_INT(extra.count, 70 - 80 / 4);
	EXPECT_INT(extra.rates[0] * 1000, 70);
	EXPECT_INT(extra.rates[1] * 1000, 20);
	/* 490 + 400 / 16 + 0.02² · (10,000 + 40,000 / 16) = 520 */
	EXPECT_INT((extra.high - extra.count) * 1000, 44694);
	EXPECT_INT((extra.count - extra.low) * 1000, 44694);
	EXPECT_INT(event_extra_of(&counts.list.items[1], &samples).count, -2);
	const struct lost_samples none = { .instructions = { 0, 4000 } };
	EXPECT(!event_extra_of(&counts.list.items[0], &none).known);
	event_counts_fini(&counts);
}
