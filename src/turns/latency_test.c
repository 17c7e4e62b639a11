#include "turns/latency.h"

#include "unit.h"

TEST("classes follow each other without a gap")
{
	for (uint32_t i = 0; i + 1 < LATENCY_CLASSES - 2 * LATENCY_SUB; i++) {
		uint64_t start = latency_class_start(i), next = latency_class_start(i + 1);
		EXPECT(next > start);
		EXPECT_INT(latency_class(start), i);
		EXPECT_INT(latency_class(next - 1), i);
	}
	EXPECT(latency_class(UINT64_MAX) < LATENCY_CLASSES);
}

TEST("a quantile is exact below 16 ns, and within a sixteenth above")
{
	struct latency latency = { 0 };
	EXPECT_INT(latency_quantile(&latency, 0.5), 0);
	for (uint64_t ns = 1; ns <= 10; ns++)
		latency_add(&latency, ns);
	EXPECT_INT(latency_quantile(&latency, 0), 1);
	EXPECT_INT(latency_quantile(&latency, 0.5), 6);
	EXPECT_INT(latency_quantile(&latency, 1), 10);
	EXPECT_INT(latency.sum_ns, 55);
	struct latency other = { 0 };
	for (uint64_t ns = 1000; ns < 2000; ns++)
		latency_add(&other, ns);
	uint64_t median = latency_quantile(&other, 0.5);
	EXPECT(median > 1500 - 94 && median < 1500 + 94);
	latency_merge(&latency, &other);
	EXPECT_INT(latency.count, 1010);
	EXPECT_INT(latency.min_ns, 1);
	EXPECT_INT(latency.max_ns, 1999);
	EXPECT_INT(latency_quantile(&latency, 1), 1999 - 1999 % 128 + 64 > 1999 ? 1999 : 1999 - 1999 % 128 + 64);
}

TEST("a merge keeps the smallest of both, and one without durations changes nothing")
{
	struct latency one = { 0 }, two = { 0 }, none = { 0 };
	latency_add(&one, 50);
	latency_add(&two, 20);
	latency_merge(&one, &none);
	EXPECT_INT(one.min_ns, 50);
	latency_merge(&one, &two);
	EXPECT_INT(one.min_ns, 20);
	EXPECT_INT(one.max_ns, 50);
}

TEST("a merge adds each class, from the first to the last")
{
	struct latency one = { 0 }, two = { 0 };
	latency_add(&one, 0);
	latency_add(&two, 0);
	latency_add(&two, UINT64_MAX);
	latency_merge(&one, &two);
	EXPECT_INT(one.classes[0], 2);
	EXPECT_INT(one.classes[latency_class(UINT64_MAX)], 1);
	EXPECT_INT(latency_quantile(&one, 0.5), 0);
}
