/* Events of a few locks and threads in any order, with payloads of any size: sums stay consistent, and no wait is longer than the
 * recording. Input: the group, then four bytes for each event. */
#include <stdlib.h>

#include "analysis/lock/lock_test.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct lock_stat *stat, uint64_t last)
{
	bool waited = stat->min_ns != UINT64_MAX;
	if (stat->max_ns > last || stat->total_ns < stat->max_ns || (waited && stat->min_ns > stat->max_ns) ||
	    (waited && stat->total_ns > last * (uint64_t)(stat->contended + 1)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { EVENT_BYTES = 4, EVENTS_MAX = 2000, STEP = 100 };
	struct lock_run run;
	uint64_t time = 1000;
	if (!size || size > EVENTS_MAX * EVENT_BYTES)
		return 0;
	lock_run_open(&run);
	for (size_t i = 1; i + EVENT_BYTES <= size; i += EVENT_BYTES) {
		const uint8_t *e = data + i;
		time += e[1] % STEP;
		put_lock_event(&run, 1 + e[0] % LOCK_EVENTS, e[2] & 3, time, (uint64_t)(e[2] >> 6) << 12, e[3] & 3,
			(e[3] & 0x80 ? (uint32_t)(e[3] & 0x1f) : (uint32_t)LOCK_PAYLOAD));
		if (e[2] & 0x20)
			time -= time > STEP ? e[1] % STEP : 0; /* the clock jumps back */
	}
	const struct lock_sink_options options = { .group = data[0] & 1 ? LOCK_GROUP_TASK : LOCK_GROUP_ADDRESS, .contention_only = data[0] & 2,
		.max_stack = 8 };
	if (lock_run_read(&run, options) == 0)
		for (size_t i = 0; i < run.sink.stats.list.count; i++)
			check(run.sink.stats.list.items[i], time + STEP);
	lock_run_close(&run);
	return 0;
}
