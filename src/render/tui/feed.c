#include "render/tui/feed.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/memory.h"

/* Buckets twice as wide; the first of them starts at a multiple of its width. */
static void widen(struct heat *heat)
{
	uint64_t width = heat->width_ns * 2, start = heat->start_ns - heat->start_ns % width;
	uint64_t counts[HEAT_BUCKETS] = { 0 };
	for (size_t i = 0; i < HEAT_BUCKETS; i++) {
		size_t at = (heat->start_ns + i * heat->width_ns - start) / width;
		if (heat->counts[i])
			counts[at < HEAT_BUCKETS ? at : HEAT_BUCKETS - 1] += heat->counts[i];
	}
	heat->start_ns = start;
	heat->width_ns = width;
	memcpy(heat->counts, counts, sizeof counts);
}

/* The last bucket in use; the heat is not empty. */
static uint64_t last_used(const struct heat *heat)
{
	size_t last = HEAT_BUCKETS - 1;
	while (last && !heat->counts[last])
		last--;
	return last;
}

/* Moves the start down to a bucket that holds `time_ns`; false: what is in use would not fit. */
static bool shift_down(struct heat *heat, uint64_t time_ns)
{
	uint64_t by = (heat->start_ns - time_ns + heat->width_ns - 1) / heat->width_ns;
	if (by * heat->width_ns > heat->start_ns || by + last_used(heat) >= HEAT_BUCKETS)
		return false;
	memmove(heat->counts + by, heat->counts, (HEAT_BUCKETS - by) * sizeof *heat->counts);
	memset(heat->counts, 0, by * sizeof *heat->counts);
	heat->start_ns -= by * heat->width_ns;
	return true;
}

static void add_count(struct heat *heat, uint64_t time_ns, uint64_t count)
{
	enum { FIRST_WIDTH_NS = 1 << 10 };
	const uint64_t widest = UINT64_C(1) << 62;
	if (!heat->width_ns) {
		heat->width_ns = FIRST_WIDTH_NS;
		heat->start_ns = time_ns - time_ns % FIRST_WIDTH_NS;
	}
	for (;;) {
		if (time_ns >= heat->start_ns && (time_ns - heat->start_ns) / heat->width_ns < HEAT_BUCKETS)
			break;
		if (time_ns < heat->start_ns && shift_down(heat, time_ns))
			break;
		if (heat->width_ns >= widest)
			return;
		widen(heat);
	}
	heat->counts[(time_ns - heat->start_ns) / heat->width_ns] += count;
}

void heat_add(struct heat *heat, uint64_t time_ns)
{
	add_count(heat, time_ns, 1);
}

void heat_merge(struct heat *heat, const struct heat *more)
{
	for (size_t i = 0; more->width_ns && i < HEAT_BUCKETS; i++)
		if (more->counts[i])
			add_count(heat, more->start_ns + i * more->width_ns, more->counts[i]);
}

int feed_open(struct feed *feed, struct error *err)
{
	*feed = (struct feed){ .wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
	return feed->wake < 0 ? error_system(err, "eventfd") : 0;
}

void feed_close(struct feed *feed)
{
	feed_shot_free(feed_take(feed));
	if (feed->wake >= 0)
		close(feed->wake);
	feed->wake = -1;
}

static void wake(struct feed *feed)
{
	uint64_t one = 1;
	if (feed->wake >= 0 && write(feed->wake, &one, sizeof one) < 0)
		return; /* it is readable already */
}

void feed_publish(struct feed *feed, struct feed_shot *shot)
{
	feed_shot_free(atomic_exchange(&feed->latest, shot));
	wake(feed);
}

void feed_end(struct feed *feed)
{
	atomic_store(&feed->ended, true);
	if (feed->wake >= 0)
		eventfd_write(feed->wake, 1);
}

void feed_progress(struct feed *feed, uint64_t done, uint64_t total)
{
	atomic_fetch_add(&feed->total, total);
	atomic_fetch_add(&feed->done, done);
	wake(feed);
}

struct feed_shot *feed_take(struct feed *feed)
{
	uint64_t count;
	if (feed->wake >= 0 && read(feed->wake, &count, sizeof count) < 0)
		count = 0; /* nothing was published since */
	return atomic_exchange(&feed->latest, NULL);
}

void feed_shot_free(struct feed_shot *shot)
{
	if (!shot)
		return;
	for (size_t i = 0; i < shot->table_count; i++)
		snapshot_free(shot->tables[i]);
	free(shot->tables);
	snapshot_free(shot->flame);
	snapshot_free(shot->code);
	free(shot->failure);
	free(shot);
}
