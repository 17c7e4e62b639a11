#include "render/tui/feed.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/memory.h"
#include "unit.h"

static uint64_t sum(const struct heat *heat)
{
	uint64_t total = 0;
	for (size_t i = 0; i < HEAT_BUCKETS; i++)
		total += heat->counts[i];
	return total;
}

static uint64_t at(const struct heat *heat, uint64_t time_ns)
{
	return heat->counts[(time_ns - heat->start_ns) / heat->width_ns];
}

TEST("a closed feed has no descriptor, and closing it once more does nothing")
{
	struct feed feed;
	struct error err;
	EXPECT(feed_open(&feed, &err) >= 0 && feed.wake > STDERR_FILENO);
	int wake = feed.wake;
	feed_close(&feed);
	EXPECT(feed.wake == -1 && fcntl(wake, F_GETFD) < 0);
	feed_close(&feed);
}

TEST("no sample is missing from a heat whose range grows in both directions")
{
	struct heat heat = { 0 };
	static const uint64_t times[] = { 5000000, 5000100, 9000000000, 1, 4999999, 70000000000, 69999999999 };
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		heat_add(&heat, times[i]);
	EXPECT_INT(sum(&heat), 7);
	EXPECT(heat.start_ns <= 1 && heat.start_ns + HEAT_BUCKETS * heat.width_ns > 70000000000);
	EXPECT(at(&heat, 9000000000) == 1);
	EXPECT(at(&heat, 70000000000) >= 1);
}

TEST("a sample lies in the bucket of its time")
{
	struct heat heat = { 0 };
	heat_add(&heat, 1 << 20);
	heat_add(&heat, (1 << 20) + 1023);
	heat_add(&heat, (1 << 20) + 1024);
	EXPECT_INT(heat.counts[0], 2);
	EXPECT_INT(heat.counts[1], 1);
	heat_add(&heat, (1 << 20) - 1);
	EXPECT_INT(heat.start_ns, (1 << 20) - 1024);
	EXPECT_INT(heat.counts[0], 1);
	EXPECT_INT(heat.counts[1], 2);
}

TEST("the heats of several workers add up, and times at the ends of the range are no danger")
{
	struct heat a = { 0 }, b = { 0 }, none = { 0 };
	heat_add(&a, 1000000);
	heat_add(&b, 500);
	heat_add(&b, 2000000000);
	heat_merge(&a, &b);
	heat_merge(&a, &none);
	EXPECT_INT(sum(&a), 3);
	heat_add(&a, UINT64_MAX - 1);
	heat_add(&a, 0);
	EXPECT(sum(&a) >= 3);
}

TEST("the screen gets the newest state once, and one that it never took is freed")
{
	struct feed feed;
	struct error err = { 0 };
	EXPECT_INT(feed_open(&feed, &err), 0);
	EXPECT(!feed_take(&feed));
	for (uint64_t i = 1; i <= 3; i++) {
		struct feed_shot *shot = memory_zero(1, sizeof *shot);
		shot->request = i;
		feed_publish(&feed, shot);
	}
	struct feed_shot *taken = feed_take(&feed);
	EXPECT_INT(taken->request, 3);
	EXPECT(!feed_take(&feed));
	feed_shot_free(taken);
	feed_publish(&feed, memory_zero(1, sizeof *taken));
	feed_close(&feed);
}
