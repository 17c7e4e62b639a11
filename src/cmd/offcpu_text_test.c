#include "cmd/offcpu_text.h"

#include <stdlib.h>

#include "unit.h"

static const char *printed(struct offcpu_rows *rows, unsigned entries, bool stacks, struct writer *out)
{
	writer_open(out, -1, 0);
	offcpu_text_print(rows, &(struct offcpu_text){ entries, stacks }, out);
	writer_putc(out, '\0');
	return out->buffer;
}

TEST("rows have time, share, number, reason, state, thread and place, and their call chain innermost first")
{
	struct offcpu_row items[] = {
		{ .total_ns = 1500000000, .max_ns = 40000000, .count = 3, .reason = WAIT_TIMER, .state = 1, .comm = "one", .waker = "", .where = "nap",
		  .stack = "main;nap;schedule", .symbol = "", .holder_comm = "" },
		{ .total_ns = 500000000, .max_ns = 900, .count = 1, .reason = WAIT_IO, .state = 2, .comm = "two", .waker = "disk", .where = "load",
		  .stack = "", .symbol = "", .holder_comm = "" },
	};
	struct offcpu_rows rows = { .total_ns = 2000000000, .count = 4 };
	struct writer out;
	rows.list.items = items;
	rows.list.count = 2;
	EXPECT_STR(printed(&rows, 1, true, &out), "#    2.00 s  blocked in 4 waits\n"
		"#     Time   Share    Waits        Max  Reason      State  Command           Where\n"
		"   1.50 s    75.0%        3   40.00 ms  timer       S      one               nap\n"
		"               schedule\n               nap\n               main\n\n# 1 more rows: -E\n");
	writer_fini(&out);
	EXPECT(strstr(printed(&rows, 2, false, &out), " 500.00 ms   25.0%        1    0.90 us  I/O         D      two               load"
		"  (woken by disk)\n") != NULL);
	writer_fini(&out);
}

TEST("a futex has its address, holder, waiter and symbol")
{
	struct offcpu_row item = { .total_ns = 1000, .max_ns = 1000, .count = 1, .futex = 0x55550010, .holder = 7, .holder_comm = "owner",
		.comm = "waits", .symbol = "table_lock", .where = "get", .waker = "", .stack = "" };
	struct offcpu_rows rows = { .options = { .group = OFFCPU_BY_FUTEX }, .total_ns = 1000, .count = 1 };
	struct writer out;
	rows.list.items = &item;
	rows.list.count = 1;
	EXPECT(strstr(printed(&rows, 9, false, &out), "        55550010        7 owner            waits             table_lock (get)\n") != NULL);
	writer_fini(&out);
}
