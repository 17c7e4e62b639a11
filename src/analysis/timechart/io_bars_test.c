#include "analysis/timechart/io_bars.h"

#include <stdlib.h>

#include "unit.h"

static const struct io_options exact = { 0, 10 };

static void call(struct io_bars *bars, const struct io_options *options, enum io_kind kind, uint64_t from, uint64_t to, int32_t descriptor,
	int64_t result)
{
	io_bars_begin(bars, kind, from, descriptor);
	EXPECT(io_bars_end(bars, options, kind, to, result));
}

TEST("calls of one kind, descriptor and result that are near to each other are one bar")
{
	struct io_bars bars = { 0 };
	call(&bars, &exact, IO_READ, 100, 120, 3, 50);
	call(&bars, &exact, IO_READ, 130, 140, 3, 70);
	call(&bars, &exact, IO_READ, 151, 160, 3, 1);
	call(&bars, &exact, IO_READ, 161, 170, 4, 1);
	call(&bars, &exact, IO_WRITE, 171, 180, 4, 1);
	call(&bars, &exact, IO_WRITE, 181, 190, 4, -11);
	EXPECT(bars.list.count == 5);
	EXPECT(bars.list.items[0].to == 140 && bars.list.items[0].bytes == 120 && bars.list.items[0].calls == 2);
	EXPECT(bars.list.items[4].error == 11 && bars.list.items[4].bytes == 0);
	EXPECT(bars.bytes == 123 && bars.longest_bytes == 120);
	io_bars_fini(&bars);
}

TEST("a short call is drawn longer, up to the next one")
{
	struct io_bars bars = { 0 };
	const struct io_options wide = { 1000, 0 };
	call(&bars, &wide, IO_READ, 100, 120, 3, 1);
	EXPECT(bars.list.items[0].to == 1100);
	call(&bars, &wide, IO_WRITE, 600, 700, 4, 1);
	EXPECT(bars.list.items[0].to == 600 && bars.list.items[1].from == 600 && bars.list.items[1].to == 1600);
	call(&bars, &wide, IO_READ, 2000, 2001, 3, -5);
	call(&bars, &wide, IO_READ, 2500, 4000, 3, 1);
	EXPECT(bars.list.items[2].to == 3000 && bars.list.items[3].from == 3000);
	io_bars_fini(&bars);
}

TEST("the end of another call, or of none, makes no bar")
{
	struct io_bars bars = { 0 };
	EXPECT(!io_bars_end(&bars, &exact, IO_READ, 100, 1));
	io_bars_begin(&bars, IO_READ, 100, 3);
	EXPECT(!io_bars_end(&bars, &exact, IO_WRITE, 120, 1));
	EXPECT(!io_bars_end(&bars, &exact, IO_READ, 99, 1));
	EXPECT(io_bars_end(&bars, &exact, IO_READ, 130, 1));
	EXPECT(!io_bars_end(&bars, &exact, IO_READ, 140, 1));
	EXPECT(bars.list.count == 1);
	io_bars_fini(&bars);
}

TEST("a task has a bounded number of bars, which have all bytes and calls")
{
	struct io_bars bars = { 0 };
	uint64_t calls = 0, bytes = 0;
	for (uint64_t i = 0; i < 50000; i++)
		call(&bars, &exact, i % 2 ? IO_READ : IO_WRITE, i / 2 * 40000 + i % 2, i / 2 * 40000 + i % 2 + 1, (int32_t)(i % 5), 3);
	EXPECT(bars.list.count <= IO_BARS_MAX && bars.list.count > 100);
	for (size_t i = 0; i < bars.list.count; i++) {
		calls += bars.list.items[i].calls;
		bytes += bars.list.items[i].bytes;
	}
	EXPECT(calls == 50000 && bytes == 150000 && bars.bytes == 150000);
	io_bars_fini(&bars);
}
