#include "analysis/column/order.h"

#include "unit.h"

static int sign(int64_t order)
{
	return order > 0 ? 1 : order < 0 ? -1 : 0;
}

static int by_children(const struct profile *profile, const struct entry *a, const struct entry *b)
{
	const struct hist hist = { 0 };
	return sign(entries_compare_measure(profile, &hist, MEASURE_CHILDREN, a, b));
}

TEST("with equal sums of children the longer chain of a thread is first, in callee order the shorter one")
{
	struct profile profile = { .options = { .iteration = ITERATE_CALLERS, .use_chains = true, .chain.order = CHAIN_CALLER } };
	struct entry deep = { .children_period = 5, .max_depth = 9, .thread = 1 }, flat = { .children_period = 5, .max_depth = 2, .thread = 1 };
	EXPECT_INT(by_children(&profile, &deep, &flat), 1);
	EXPECT_INT(by_children(&profile, &flat, &deep), -1);
	profile.options.chain.order = CHAIN_CALLEE;
	EXPECT_INT(by_children(&profile, &deep, &flat), -1);
	EXPECT_INT(by_children(&profile, &flat, &deep), 1);
	flat.thread = 2;
	EXPECT_INT(by_children(&profile, &deep, &flat), 0);
	deep.thread = flat.thread = THREAD_NONE;
	deep.tid = 7;
	EXPECT_INT(by_children(&profile, &deep, &flat), 0);
	flat.tid = 7;
	EXPECT_INT(by_children(&profile, &deep, &flat), -1);
	flat.children_period = 4;
	EXPECT_INT(by_children(&profile, &deep, &flat), 1);
	flat.children_period = 5;
	profile.options.use_chains = false;
	EXPECT_INT(by_children(&profile, &deep, &flat), 0);
	profile.options.iteration = ITERATE_SAMPLES;
	flat.children_period = 4;
	EXPECT_INT(by_children(&profile, &deep, &flat), 0);
}

static int by_period(const struct profile *profile, const struct hist *hist, const struct entry *a, const struct entry *b)
{
	return sign(entries_compare_measure(profile, hist, MEASURE_PERIOD, a, b));
}

TEST("entries of an event group compare by the chosen member, or by the leader and then by each member in turn")
{
	struct hist first = { 0 }, second = { 0 }, *members[] = { &first, &second, &second };
	const struct hist hist = { .members = members, .member_count = 3 };
	const struct entry one = { .self.period = 1 }, two = { .self.period = 2 };
	const struct entry *of_a[] = { NULL, &one, &two }, *of_b[] = { NULL, &one, NULL };
	const struct entry a = { .self.period = 5, .pairs = of_a }, b = { .self.period = 5, .pairs = of_b }, more = { .self.period = 6 };
	struct profile profile = { .options = { .event_group = true } };
	EXPECT_INT(by_period(&profile, &hist, &a, &b), 1); /* by the third */
	EXPECT_INT(by_period(&profile, &hist, &more, &a), 1);
	profile.options.group_sort_index = 2;
	EXPECT_INT(by_period(&profile, &hist, &more, &a), -1);
	profile.options.group_sort_index = 1;
	EXPECT_INT(by_period(&profile, &hist, &b, &more), 1);
	profile.options.group_sort_index = 3; /* there is no such member */
	EXPECT_INT(by_period(&profile, &hist, &more, &a), 1);
	EXPECT_INT(by_period(&profile, &hist, &a, &b), 0);
	profile.options = (struct profile_options){ .event_group = false };
	EXPECT_INT(by_period(&profile, &hist, &a, &b), 0);
}
