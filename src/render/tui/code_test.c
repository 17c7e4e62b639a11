/* The pages of code. */
#include "render/tui/browser_test.h"

/* Two lines of code: `first` of 100 samples are at the first, the others at the second. */
struct two_lines {
	uint64_t first;
};

static size_t two_rows(void *context, uint64_t parent)
{
	return parent == TABLE_TOP ? 2 : 0;
}

static struct cell code_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	const struct two_lines *lines = context;
	uint64_t part = row == 1 ? lines->first : 100 - lines->first;
	return column ? cell_address(0x1000 + row) : (struct cell){ .kind = CELL_SHARE, .share = { part, 100 } };
}

static struct snapshot *two_lines(uint64_t first)
{
	static const struct table_column columns[] = { { "overhead", "Percent", NULL, CELL_SHARE }, { "address", "Address", NULL, CELL_ADDRESS } };
	struct two_lines lines = { first };
	const struct table_fact facts[] = { { "event", cell_text("cycles") }, { "symbol", cell_text("parse") } };
	const struct table table = { .name = "code", .columns = columns, .column_count = 2, .facts = facts, .fact_count = 2, .context = &lines,
		.row_count = two_rows, .row = table_row_in_order, .cell = code_cell };
	return snapshot_new(&table, 0);
}

static struct snapshot *take_annotate(void *context, const struct snapshot *shot, uint32_t row, struct error *err)
{
	const struct seen *seen = context;
	return two_lines(seen->start ? 10 : 70);
}

static void publish_code(struct seen *seen, uint64_t first)
{
	struct feed_shot *shot = memory_zero(1, sizeof *shot);
	shot->tables = memory_zero(1, sizeof *shot->tables);
	shot->code = two_lines(first);
	feed_publish(&seen->feed, shot);
	browser_poll(&seen->browser);
	browser_paint(&seen->browser, &seen->screen);
}

TEST("newer counts change the note on the hottest line, and the cursor stays; after a key it is gone")
{
	struct seen *seen = open_seen(10, 80, 1);
	seen->browser.source.read = NULL;
	seen->browser.source.annotate = take_annotate;
	press(seen, 'a');
	EXPECT_STR(line(seen, 9), "hottest: 70.00%, 0x1001   (no source is known, s: why; +: callers, ESC: back)");
	publish_code(seen, 20);
	EXPECT_STR(line(seen, 9), "hottest: 80.00%, 0x1002   (no source is known, s: why; +: callers, ESC: back)");
	EXPECT_INT(reversed_line(seen), 2);
	press(seen, BROWSE_KEY_UP);
	publish_code(seen, 30);
	EXPECT(!strstr(line(seen, 9), "hottest: 7"));
	EXPECT(atomic_load(&seen->feed.shows_code));
	press(seen, 'q');
	EXPECT(!atomic_load(&seen->feed.shows_code));
	close_seen(seen);
}

/* Three lines, the first of which is a jump to the last one. */
static size_t jump_rows(void *context, uint64_t parent)
{
	return parent == TABLE_TOP ? 3 : 0;
}

static struct cell jump_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	if (column == 0)
		return (struct cell){ .kind = CELL_SHARE, .share = { 1, 3 } };
	return column == 1 ? cell_address(0x1000 + row) : row == 1 ? cell_count(2) : cell_absent();
}

static struct snapshot *take_jump(void *context, const struct snapshot *shot, uint32_t row, struct error *err)
{
	static const struct table_column columns[] = { { "overhead", "Percent", NULL, CELL_SHARE }, { "address", "Address", NULL, CELL_ADDRESS },
		{ "target_line", "Target", NULL, CELL_COUNT } };
	const struct table_fact facts[] = { { "event", cell_text("cycles") }, { "symbol", cell_text("parse") } };
	const struct table table = { .name = "code", .columns = columns, .column_count = 3, .facts = facts, .fact_count = 2,
		.row_count = jump_rows, .row = table_row_in_order, .cell = jump_cell };
	return snapshot_new(&table, 0);
}

TEST("ENTER on a jump leads to its target, and on another line to a note")
{
	struct seen *seen = open_seen(10, 80, 1);
	seen->browser.source.annotate = take_jump;
	press(seen, 'a');
	EXPECT_INT(reversed_line(seen), 2);
	press(seen, BROWSE_KEY_ENTER);
	EXPECT_INT(reversed_line(seen), 4);
	press(seen, BROWSE_KEY_ENTER);
	EXPECT_INT(reversed_line(seen), 4);
	EXPECT_STR(line(seen, 9), "this line has no jump with a known target");
	close_seen(seen);
}

TEST("work that takes long begins after a screen that says so, or before the next key")
{
	struct seen *seen = open_seen(10, 80, 1);
	seen->browser.source.annotate = take_annotate;
	browser_key(&seen->browser, &(struct browse_event){ .key = 'a' });
	EXPECT_INT(seen->browser.pages.count, 1);
	EXPECT_STR(seen->browser.note, "reading the code ...");
	EXPECT(browser_work(&seen->browser));
	EXPECT(!browser_work(&seen->browser));
	EXPECT_INT(seen->browser.pages.count, 2);
	press(seen, 'q');
	browser_key(&seen->browser, &(struct browse_event){ .key = 'a' });
	browser_key(&seen->browser, &(struct browse_event){ .key = 'q' });
	EXPECT_INT(seen->browser.pages.count, 1);
	EXPECT(!seen->browser.quit);
	close_seen(seen);
}

TEST("a range of time that is marked on a page of code changes its counts, and digits move by tenths")
{
	struct seen *seen = open_seen(12, 80, 1);
	seen->browser.source.annotate = take_annotate;
	press(seen, 'a');
	press(seen, 'T');
	press(seen, '5');
	EXPECT_INT(seen->browser.strip.cursor, 40);
	press(seen, BROWSE_KEY_ENTER);
	press(seen, '9');
	EXPECT_INT(seen->browser.strip.cursor, 72);
	press(seen, BROWSE_KEY_ENTER);
	EXPECT(seen->start);
	publish(seen, 3, 1, false); /* not yet */
	browser_paint(&seen->browser, &seen->screen);
	EXPECT_STR(line(seen, 4), " 70.00%  0x1001");
	publish(seen, 3, 1, true);
	browser_paint(&seen->browser, &seen->screen);
	EXPECT_STR(line(seen, 4), " 10.00%  0x1001");
	close_seen(seen);
}

TEST("+ on a page of code leads to the heaviest caller of its function")
{
	struct seen *seen = open_seen(12, 80, 1);
	seen->browser.source.annotate = take_annotate;
	press(seen, BROWSE_KEY_DOWN);
	press(seen, 'a');
	press(seen, '+');
	EXPECT_INT(seen->browser.pages.count, 1);
	EXPECT_INT(reversed_line(seen), 4);
	EXPECT_STR(line(seen, 4), "     20.00% parse");
	EXPECT_STR(line(seen, 11), "the caller with the most samples; a shows its code");
	press(seen, 'a');
	press(seen, '+'); /* it remains open */
	EXPECT_STR(line(seen, 4), "     20.00% parse");
	close_seen(seen);
}

static size_t lone_row(void *context, uint64_t parent)
{
	return parent == TABLE_TOP;
}

/* A function, or an address without a name (*context false), whose only caller row is itself. */
static struct cell lone_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	const char *name = context && *(const bool *)context ? "memcpy" : NULL;
	if (!column)
		return (struct cell){ .kind = CELL_SHARE, .share = { 1, 1 } };
	return (struct cell){ .kind = CELL_PLACE, .place = { .symbol = name, .module = name ? "libc.so.6" : NULL, .address = 16, .level = '.' } };
}

static bool lone_detail(void *context, uint64_t row, struct table *detail)
{
	static const struct table_column columns[] = { { "period", "Period", NULL, CELL_COUNT }, { "place", "Place", NULL, CELL_PLACE } };
	*detail = (struct table){ .name = "callers", .tree = true, .columns = columns, .column_count = 2, .context = context,
		.row_count = lone_row, .row = table_row_in_order, .cell = tui_caller_cell };
	return true;
}

static void publish_lone(struct seen *seen, bool named)
{
	static const struct table_column columns[] = { { "overhead", "Overhead", NULL, CELL_SHARE }, { "symbol", "Symbol", NULL, CELL_PLACE } };
	const struct table_fact fact = { "event", cell_text("cycles") };
	const struct table table = { .name = "entries", .columns = columns, .column_count = 2, .facts = &fact, .fact_count = 1, .context = &named,
		.row_count = lone_row, .row = table_row_in_order, .cell = lone_cell, .detail = lone_detail };
	struct feed_shot *shot = memory_zero(1, sizeof *shot);
	shot->tables = memory_zero(1, sizeof *shot->tables);
	shot->tables[shot->table_count++] = snapshot_new(&table, 10);
	shot->complete = true;
	feed_publish(&seen->feed, shot);
	browser_poll(&seen->browser);
	browser_paint(&seen->browser, &seen->screen);
}

static struct seen *open_lone(bool named)
{
	struct seen *seen = open_seen(12, 100, 1);
	seen->browser.source.annotate = take_annotate;
	publish(seen, 1, 1, false);
	publish_lone(seen, named);
	return seen;
}

TEST("rows that are wrong callers, and callers that were not found, have a note on what records them")
{
	struct seen *seen = open_lone(false);
	EXPECT_STR(line(seen, 11), "addresses in no file are wrong callers: record --call-graph unwind; ^: the hottest row");
	press(seen, BROWSE_KEY_UP);
	publish_lone(seen, false);
	EXPECT(!strstr(line(seen, 11), "wrong callers"));
	close_seen(seen);
	seen = open_lone(true);
	EXPECT(!strstr(line(seen, 11), "wrong callers"));
	press(seen, 'a');
	press(seen, '+');
	EXPECT_STR(line(seen, 11), "its callers were not found by frame pointers: perfuse record --call-graph unwind");
	close_seen(seen);
}
