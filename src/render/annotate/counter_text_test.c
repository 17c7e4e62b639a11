#include "render/annotate/counter_text.h"

#include "unit.h"

static struct branch_counter events[] = { { 0, 0 }, { 2, 1 }, { 3, 26 }, { 4, 1 } };
static struct block_count sums[] = {
	{ .event = 0, .end = 8, .sum = 9 },
	{ .event = 2, .end = 8, .sum = 40, .saturated = true },
	{ .event = 3, .end = 8, .sum = 4 },
	{ .event = 4, .end = 9, .sum = 4 },
	{ .module = 1, .event = 4, .end = 8, .sum = 4 },
};

static void expect(uint64_t runs, bool numbers, const char *text)
{
	CLEANUP_STR struct str out = { 0 };
	struct branch_counters counters = { .items = { events, 4, 4 }, .bits = 2 };
	struct blocks blocks = { .counts = { sums, 5, 5 } };
	counter_text_add(&counters, &blocks, 0, 8, runs, numbers, &out);
	EXPECT_STR(str_text(&out), text);
}

TEST("branch counters are the letters of their means, at most three and a plus")
{
	expect(4, false, "|AAA |BBB+|A0   |-   |");
	expect(5, false, "|AA  |BBB+|A0   |-   |");
	expect(20, false, "|A   |BB+ |A0   |-   |");
	expect(2, false, "|AAA+|BBB+|A0A0  |-   |");
	expect(0, false, " ");
}

TEST("branch counters are numbers")
{
	expect(4, true, "A=3 ,B=10+,A0=1 ,B=- ");
	expect(0, true, "");
}
