#include "analysis/annotate/hot_blocks.h"

#include "unit.h"

/* Blocks of a function that begins at 0x100, sorted: by end and start. */
static const struct block list[] = {
	{ .start = BLOCK_NO_START, .end = 0x110, .timed = 1, .cycles = 7 },
	{ .start = BLOCK_NO_START, .end = 0x120, .timed = 2, .cycles = 5 },
	{ .start = 0xf0, .end = 0x120, .timed = 1, .cycles = 1 },  /* another function's */
	{ .start = 0x104, .end = 0x120, .timed = 0, .cycles = 0 }, /* without cycles */
	{ .start = 0x108, .end = 0x120, .timed = 3, .cycles = 30 },
	{ .start = 0x110, .end = 0x120, .timed = 1, .cycles = 4 },
	{ .start = 0x124, .end = 0x130, .timed = 0, .cycles = 0 },
};

TEST("blocks that end with one branch are one, from the first start in the function that has cycles")
{
	struct timed_block timed;
	size_t at = 0, count = sizeof list / sizeof *list;
	EXPECT(blocks_next_timed(list, count, &at, 0x100, &timed));
	EXPECT_INT(timed.start, 0);
	EXPECT_INT(timed.end, 0x10);
	EXPECT_INT(timed.cycles, 7);
	EXPECT(blocks_next_timed(list, count, &at, 0x100, &timed));
	EXPECT_INT(timed.start, 8);
	EXPECT_INT(timed.end, 0x20);
	EXPECT_INT(timed.cycles, 40);
	EXPECT_INT(timed.runs, 7);
	EXPECT(!blocks_next_timed(list, count, &at, 0x100, &timed));
	EXPECT_INT(at, count);
}

TEST("a table of blocks has their shares of all cycles")
{
	struct module module = { .short_name = "prog" };
	struct hot_block blocks[] = { { .module = &module, .symbol = 0, .start = 4, .end = 12, .cycles = 30, .runs = 4 } };
	const struct hot_blocks hot = { blocks, 1, 120, 7 };
	struct hot_blocks_table context = { &hot, NULL };
	struct table table = hot_blocks_table(&context);
	EXPECT_INT(table.row_count(table.context, TABLE_TOP), 1);
	uint64_t row = table.row(table.context, TABLE_TOP, 0);
	struct cell share = table.cell(table.context, row, 0, NULL);
	EXPECT(share.kind == CELL_SHARE && share.share.part == 30 && share.share.whole == 120);
	EXPECT_INT(table.cell(table.context, row, 3, NULL).count, 7);
	EXPECT_STR(table.cell(table.context, row, table.column_count - 1, NULL).text, "prog");
}
