#include "render/text/cell_text.h"

#include "unit.h"

static void expect(struct cell cell, enum column_layout layout, struct cell_style style, const char *want)
{
	CLEANUP_STR struct str out = { 0 };
	const struct column_type type = { .layout = layout, .yes = "taken", .no = "not taken", .absent = "N/A" };
	cell_text_add(&cell, &type, &style, &out);
	EXPECT_STR(str_text(&out), want);
}

#define STYLE(...) (struct cell_style){ __VA_ARGS__ }

TEST("each kind of value has its text")
{
	expect((struct cell){ CELL_COUNT, .count = UINT64_MAX }, LAYOUT_PLAIN, STYLE(0), "18446744073709551615");
	expect((struct cell){ CELL_NUMBER, .number = -7 }, LAYOUT_PLAIN, STYLE(0), "-7");
	expect((struct cell){ CELL_ADDRESS, .count = 0x1f }, LAYOUT_PLAIN, STYLE(0), "0x1f");
	expect((struct cell){ CELL_FILE_ID, .file_id = { 12, 0xab } }, LAYOUT_PLAIN, STYLE(0), "12/0xab");
	expect((struct cell){ CELL_BYTES, .count = 2047 }, LAYOUT_PLAIN, STYLE(0), "2047B");
	expect((struct cell){ CELL_BYTES, .count = 2048 }, LAYOUT_PLAIN, STYLE(0), "2K");
	expect((struct cell){ CELL_BYTES, .count = 5ull << 40 }, LAYOUT_PLAIN, STYLE(0), "5120G");
	expect((struct cell){ CELL_TIME, .count = 1002003004 }, LAYOUT_PLAIN, STYLE(0), "1.002003");
	expect((struct cell){ CELL_TIME, .count = 1002003004 }, LAYOUT_PLAIN, STYLE(.nanoseconds = true), "1.002003004");
	expect((struct cell){ CELL_FLAG, .flag = true }, LAYOUT_PLAIN, STYLE(0), "taken");
	expect((struct cell){ CELL_FLAG, .flag = false }, LAYOUT_PLAIN, STYLE(0), "not taken");
	expect((struct cell){ CELL_TEXT, .text = "text" }, LAYOUT_PLAIN, STYLE(0), "text");
	expect((struct cell){ CELL_ABSENT }, LAYOUT_PLAIN, STYLE(0), "N/A");
}

TEST("a value is aligned, padded and cut as its column requires")
{
	const struct cell text = { CELL_TEXT, .text = "abcd" }, number = { CELL_NUMBER, .number = 42 };
	expect(text, LAYOUT_LEFT, STYLE(6), "abcd  ");
	expect(text, LAYOUT_LEFT, STYLE(3), "abcd");
	expect(text, LAYOUT_LEFT_CUT, STYLE(3), "abc");
	expect(text, LAYOUT_LEFT_CUT, STYLE(5), "abcd ");
	expect(text, LAYOUT_CUT, STYLE(3), "abc");
	expect(text, LAYOUT_CUT, STYLE(5), "abcd");
	expect(text, LAYOUT_RIGHT, STYLE(6), "  abcd");
	expect(text, LAYOUT_RIGHT, STYLE(3), "abcd");
	expect(text, LAYOUT_RIGHT_CUT, STYLE(3), "abc");
	expect(number, LAYOUT_ZEROS, STYLE(5), "00042");
	expect(number, LAYOUT_ZEROS_SHORT, STYLE(6), "   042");
	expect((struct cell){ CELL_TASK, .task = { 1234, "worker" } }, LAYOUT_TASK, STYLE(12), "   1234:work");
	expect((struct cell){ CELL_TASK, .task = { 1234, "worker" } }, LAYOUT_TASK, STYLE(8), "   1234:");
	expect((struct cell){ CELL_TASK, .task = { 1234, "worker" } }, LAYOUT_TASK, STYLE(7), "   1234:worker");
}

TEST("a place has its symbol, its offset or its address")
{
	const struct cell known = { CELL_PLACE, .place = { .symbol = "main", .address = 0x1234, .offset = 0x10, .level = '.', .origin = 'd' } };
	const struct cell unknown = { CELL_PLACE, .place = { .address = 0x1234, .level = 'k', .origin = '!' } };
	struct cell start = known, data = known, inlined = known;
	start.place.offset = 0;
	data.place.data = inlined.place.inlined = true;
	expect(known, LAYOUT_SYMBOL, STYLE(0), "[.] main");
	expect(known, LAYOUT_SYMBOL, STYLE(6), "[.] ma");
	expect(known, LAYOUT_SYMBOL, STYLE(.verbose = true), "0x1234             d [.] main");
	expect(data, LAYOUT_SYMBOL, STYLE(0), "[.] main+0x10");
	expect(inlined, LAYOUT_SYMBOL, STYLE(0), "[.] main (inlined)");
	expect(unknown, LAYOUT_SYMBOL, STYLE(0), "[k] 0x0000000000001234");
	expect(known, LAYOUT_SYMBOL_OFFSET, STYLE(20), "[.] main+0x10");
	expect(unknown, LAYOUT_SYMBOL_OFFSET, STYLE(12), "[k] 0x00001234");
	expect(known, LAYOUT_SYMBOL_END, STYLE(0), "[.] main+0x10");
	expect(start, LAYOUT_SYMBOL_END, STYLE(0), "[.] main");
	expect(unknown, LAYOUT_SYMBOL_END, STYLE(0), "[k] 0x0000000000001234");
	expect(known, LAYOUT_PHYSICAL, STYLE(24), "[.] 0x0000000000001234  ");
	expect(known, LAYOUT_PHYSICAL, STYLE(10), "[.] 0x0000");
}
