#include "analysis/timechart/io_bars.h"

#include <stdlib.h>

enum { FIRST_DISTANCE_NS = 1000000 };

void io_bars_fini(struct io_bars *bars)
{
	vec_fini(&bars->list);
}

void io_bars_begin(struct io_bars *bars, enum io_kind kind, uint64_t time, int32_t descriptor)
{
	bars->in_call = true;
	bars->kind = (uint8_t)kind;
	bars->begun = time;
	bars->descriptor = descriptor;
}

static void join(struct io_bars *bars, struct io_bar *last, const struct io_bar *bar)
{
	last->to = bar->to > last->to ? bar->to : last->to;
	last->bytes += bar->bytes;
	last->calls += bar->calls;
	if (last->descriptor != bar->descriptor)
		last->descriptor = IO_SEVERAL;
	bars->longest_bytes = last->bytes > bars->longest_bytes ? last->bytes : bars->longest_bytes;
}

/* Joins each bar with the last one of its kind that is near: of two errors the first is shown. */
static void coarsen(struct io_bars *bars)
{
	size_t count = 0, latest[IO_KINDS][2] = { 0 }; /* index + 1 of the last bar of each kind, without and with an error */
	bars->distance_ns = bars->distance_ns ? 2 * bars->distance_ns : FIRST_DISTANCE_NS;
	for (size_t i = 0; i < bars->list.count; i++) {
		const struct io_bar bar = bars->list.items[i];
		size_t *slot = &latest[bar.kind][bar.error != 0];
		if (*slot && bars->list.items[*slot - 1].to + bars->distance_ns >= bar.from) {
			join(bars, &bars->list.items[*slot - 1], &bar);
		} else {
			bars->list.items[count++] = bar;
			*slot = count;
		}
	}
	bars->list.count = count;
}

/* A bar is drawn at least least_ns long, and neither over the next one nor, if the one before has failed, over that one. */
static void separate(struct io_bar *last, struct io_bar *bar)
{
	if (bar->from >= last->to)
		return;
	if (last->error && last->to < bar->to)
		bar->from = last->to;
	else
		last->to = bar->from > last->from ? bar->from : last->from;
}

bool io_bars_end(struct io_bars *bars, const struct io_options *options, enum io_kind kind, uint64_t time, int64_t result)
{
	bool transfers = kind == IO_READ || kind == IO_WRITE || kind == IO_RECEIVE || kind == IO_SEND;
	if (!bars->in_call || bars->kind != kind || time < bars->begun)
		return false;
	bars->in_call = false;
	struct io_bar bar = { .from = bars->begun, .to = time, .kind = (uint8_t)kind, .descriptor = bars->descriptor, .calls = 1,
		.error = result < 0 && result > INT32_MIN ? (int32_t)-result : 0, .bytes = transfers && result > 0 ? (uint64_t)result : 0 };
	if (bar.to - bar.from < options->least_ns)
		bar.to = bar.from < UINT64_MAX - options->least_ns ? bar.from + options->least_ns : UINT64_MAX;
	bars->bytes += bar.bytes;
	bars->longest_bytes = bar.bytes > bars->longest_bytes ? bar.bytes : bars->longest_bytes;
	struct io_bar *last = bars->list.count ? &bars->list.items[bars->list.count - 1] : NULL;
	if (last)
		separate(last, &bar);
	if (last && last->kind == bar.kind && last->error == bar.error && last->descriptor == bar.descriptor &&
	    bar.from <= last->to + options->distance_ns) {
		join(bars, last, &bar);
		return true;
	}
	vec_push(&bars->list, bar);
	for (bool full = bars->list.count > IO_BARS_MAX; full && bars->list.count > IO_BARS_MAX / 2 && bars->distance_ns < UINT64_MAX / 4;)
		coarsen(bars);
	return true;
}
