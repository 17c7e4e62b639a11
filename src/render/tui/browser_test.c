#include "render/tui/browser.h"

#include "base/memory.h"
#include "render/tui/face.h"
#include "render/tui/tui_test.h"
#include "unit.h"

#include <locale.h>

/* A browser over two events, on a separate screen. */
struct seen {
	struct feed feed;
	struct browser browser;
	struct screen screen;
	uint64_t start, end;   /* of the last request */
	char flame[32];
	struct str saved;
};

static void take_read(void *context, uint64_t request, uint64_t start_ns, uint64_t end_ns, const char *flame_event)
{
	struct seen *seen = context;
	seen->start = start_ns;
	seen->end = end_ns;
	snprintf(seen->flame, sizeof seen->flame, "%s", flame_event ? flame_event : "");
}

static void take_flame(void *context, const char *event)
{
	struct seen *seen = context;
	snprintf(seen->flame, sizeof seen->flame, "%s", event);
}

static int take_save(void *context, const struct browse_export *what, struct str *path, struct error *err)
{
	struct seen *seen = context;
	str_clear(&seen->saved);
	if (what->text)
		str_puts(&seen->saved, what->text);
	if (what->table)
		str_printf(&seen->saved, "%zu rows, %zu columns", what->table->row_count(what->table->context, TABLE_TOP), what->table->column_count);
	str_puts(path, "perf.hist.0");
	return 0;
}

static void publish(struct seen *seen, size_t rows, size_t events, bool complete)
{
	static const char *const names[] = { "cycles", "instructions" };
	struct feed_shot *shot = memory_zero(1, sizeof *shot);
	shot->tables = memory_zero(events + 1, sizeof *shot->tables);
	for (size_t i = 0; i < events; i++)
		shot->tables[shot->table_count++] = tui_snapshot(rows - i, names[i]);
	for (uint64_t i = 0; i < 100; i++)
		heat_add(&shot->heat, 1000000000 + i * 10000000);
	shot->request = seen->browser.request;
	shot->complete = complete;
	feed_publish(&seen->feed, shot);
	browser_poll(&seen->browser);
}

static struct seen *open_seen(size_t lines, size_t columns, size_t events)
{
	struct seen *seen = memory_zero(1, sizeof *seen);
	struct error err = { 0 };
	feed_open(&seen->feed, &err);
	const struct browse_source source = { .context = seen, .feed = &seen->feed, .read = take_read, .save = take_save };
	browser_open(&seen->browser, &source);
	screen_resize(&seen->screen, lines, columns);
	publish(seen, 5, events, true);
	browser_paint(&seen->browser, &seen->screen);
	return seen;
}

static void close_seen(struct seen *seen)
{
	browser_close(&seen->browser);
	feed_close(&seen->feed);
	screen_fini(&seen->screen);
	str_fini(&seen->saved);
	free(seen);
}

static void press(struct seen *seen, uint32_t key)
{
	browser_key(&seen->browser, &(struct browse_event){ .key = key });
	browser_work(&seen->browser);
	browser_paint(&seen->browser, &seen->screen);
}

static void type(struct seen *seen, const char *text)
{
	for (; *text; text++)
		press(seen, (unsigned char)*text);
}

static void click(struct seen *seen, uint32_t key, size_t line, size_t column)
{
	browser_key(&seen->browser, &(struct browse_event){ key, line, column });
	browser_work(&seen->browser);
	browser_paint(&seen->browser, &seen->screen);
}

static const char *line(const struct seen *seen, size_t number)
{
	static struct str text;
	str_clear(&text);
	screen_line_text(&seen->screen, number, &text);
	return str_text(&text);
}

static size_t reversed_line(const struct seen *seen)
{
	for (size_t i = 2; i + 1 < seen->screen.lines; i++)
		if (seen->screen.cells[i * seen->screen.columns].style & STYLE_REVERSE)
			return i;
	return 0;
}

TEST("one event opens at once, with its totals, heads and rows")
{
	if (!setlocale(LC_CTYPE, "C.UTF-8")) {
		unit_skip("the C library here has no UTF-8; native builds run it");
		return;
	}
	struct seen *seen = open_seen(10, 80, 1);
	EXPECT_STR(line(seen, 0), "Samples: 1.2K of event 'cycles', Event count (approx.): 100");
	EXPECT_STR(line(seen, 1), "  Overhead  Command  Shared Object      Symbol");
	EXPECT_STR(line(seen, 2), "+   50.00%  cc1      cc1                [.] parse");
	EXPECT_STR(line(seen, 4), "    15.00%  ld       [kernel.kallsyms]  [k] do_read");
	EXPECT_STR(line(seen, 6), "     1.00%  ld       ld                 [.] b\xc3\xbc" "cher?[31m");
	close_seen(seen);
}

TEST("on a screen of one line there is the title alone")
{
	struct seen *seen = open_seen(1, 60, 1);
	EXPECT_STR(line(seen, 0), "Samples: 1.2K of event 'cycles', Event count (approx.): 100");
	close_seen(seen);
}

TEST("several events are listed first, ENTER opens one, TAB the next, q returns")
{
	struct seen *seen = open_seen(10, 80, 2);
	EXPECT_STR(line(seen, 0), "Available samples");
	EXPECT_STR(line(seen, 3), "   1234  instructions");
	press(seen, BROWSE_KEY_DOWN);
	press(seen, BROWSE_KEY_ENTER);
	EXPECT_STR(line(seen, 0), "Samples: 1.2K of event 'instructions', Event count (approx.): 100");
	press(seen, BROWSE_KEY_TAB);
	EXPECT_STR(line(seen, 0), "Samples: 1.2K of event 'cycles', Event count (approx.): 100");
	press(seen, 'q');
	EXPECT_STR(line(seen, 0), "Available samples");
	EXPECT(!seen->browser.quit);
	press(seen, 'q');
	EXPECT(seen->browser.quit);
	close_seen(seen);
}

/* Two tables without an event: devices (2 rows), and queues (1 row). */
static size_t device_count(void *context, uint64_t parent)
{
	return parent == TABLE_TOP ? *(const size_t *)context : 0;
}

static struct cell device_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	return column ? cell_count(row * 10) : cell_text(row == 1 ? "sda" : "sdb");
}

static struct snapshot *devices(const char *name, size_t rows, uint64_t lost)
{
	static const struct table_column columns[] = { { "device", "Device", NULL, CELL_TEXT }, { "requests", "Reads", "ms", CELL_COUNT } };
	const struct table_fact fact = { "lost", cell_count(lost) };
	const struct table table = { .name = name, .columns = columns, .column_count = 2, .facts = &fact, .fact_count = 1, .context = &rows,
		.row_count = device_count, .row = tui_row_number, .cell = device_cell };
	return snapshot_new(&table, 0);
}

TEST("tables without an event are listed by name and facts, and have only the keys of what their source offers")
{
	struct seen *seen = open_seen(12, 60, 1);
	struct feed_shot *shot = memory_zero(1, sizeof *shot);
	browser_close(&seen->browser);
	browser_open(&seen->browser, &(struct browse_source){ .context = seen, .feed = &seen->feed, .save = take_save });
	shot->tables = memory_zero(2, sizeof *shot->tables);
	shot->tables[shot->table_count++] = devices("devices", 2, 3);
	shot->tables[shot->table_count++] = devices("devices", 1, 4);
	shot->complete = true;
	feed_publish(&seen->feed, shot);
	browser_poll(&seen->browser);
	press(seen, BROWSE_KEY_END);
	EXPECT_STR(line(seen, 0), "Tables");
	EXPECT_STR(line(seen, 2), "   2  devices: lost 3");
	press(seen, BROWSE_KEY_ENTER);
	EXPECT_STR(line(seen, 0), "devices: lost 4");
	EXPECT_STR(line(seen, 1), "Device  Reads (ms)");
	EXPECT_STR(line(seen, 2), "sda     10");
	EXPECT_STR(line(seen, 3), "");
	press(seen, BROWSE_KEY_TAB);
	EXPECT_STR(line(seen, 3), "sdb     20");
	press(seen, BROWSE_KEY_DOWN);
	press(seen, BROWSE_KEY_ENTER);
	EXPECT_INT(seen->browser.menu.items.count, 2);
	press(seen, BROWSE_KEY_ENTER);
	EXPECT_STR(line(seen, 0), "devices: lost 3, only device = sdb");
	EXPECT_STR(line(seen, 2), "sdb     20");
	EXPECT_STR(line(seen, 3), "");
	press(seen, 'd');
	EXPECT_STR(line(seen, 11), "no column shows the shared object");
	press(seen, 'h');
	for (size_t i = 1; i < 11; i++)
		EXPECT(!strstr(line(seen, i), "Annotate") && !strstr(line(seen, i), "Flame graph"));
	close_seen(seen);
}

TEST("callers open in place, with shares where they divide")
{
	struct seen *seen = open_seen(12, 80, 1);
	press(seen, '+');
	EXPECT_STR(line(seen, 3), "   - 50.00% main");
	press(seen, 'E');
	EXPECT_STR(line(seen, 2), "-   50.00%  cc1      cc1                [.] parse");
	EXPECT_STR(line(seen, 3), "   - 50.00% main");
	EXPECT_STR(line(seen, 4), "     start");
	EXPECT_STR(line(seen, 6), "     20.00% parse");
	press(seen, 'v');
	EXPECT_STR(line(seen, 6), "     20.00% parse  cc1");
	close_seen(seen);
}

TEST("zooming filters, ESC undoes, and the first line names the filter")
{
	struct seen *seen = open_seen(10, 100, 1);
	press(seen, BROWSE_KEY_DOWN);
	press(seen, 'd');
	EXPECT_STR(line(seen, 0), "Samples: 1.2K of event 'cycles', Event count (approx.): 100, only dso = libc.so.6");
	EXPECT_STR(line(seen, 3), "");
	press(seen, BROWSE_KEY_ESCAPE);
	EXPECT_STR(line(seen, 2), "+   50.00%  cc1      cc1                [.] parse");
	press(seen, 'k');
	EXPECT_STR(line(seen, 2), "    15.00%  ld       [kernel.kallsyms]  [k] do_read");
	press(seen, 'F');
	EXPECT_STR(line(seen, 2), "   100.00%  ld       [kernel.kallsyms]  [k] do_read");
	press(seen, 'u');
	EXPECT_STR(line(seen, 2), "+   50.00%  cc1      cc1                [.] parse");
	press(seen, 't');
	EXPECT_STR(line(seen, 2), "    75.00%  ld       [kernel.kallsyms]  [k] do_read");
	EXPECT_STR(line(seen, 5), "");
	close_seen(seen);
}

TEST("a question takes text, BACKSPACE and ESC; a wrong expression is reported")
{
	struct seen *seen = open_seen(10, 80, 1);
	press(seen, '/');
	type(seen, "liX");
	press(seen, BROWSE_KEY_BACKSPACE);
	EXPECT_STR(line(seen, 9), "Filter: only rows that match: li_");
	press(seen, BROWSE_KEY_ENTER);
	EXPECT_STR(line(seen, 2), "+   30.00%  cc1      libc.so.6      [.] memcpy");
	EXPECT_STR(line(seen, 3), "     4.00%  ld       ld             [.] link");
	press(seen, '/');
	type(seen, "(");
	press(seen, BROWSE_KEY_ENTER);
	EXPECT(strstr(line(seen, 9), "is no regular expression"));
	press(seen, 'L');
	type(seen, "5x");
	press(seen, BROWSE_KEY_ENTER);
	EXPECT_STR(line(seen, 9), "a percentage is a number from 0 to 100");
	press(seen, 'L');
	press(seen, BROWSE_KEY_ESCAPE);
	EXPECT(!seen->browser.prompt.label);
	close_seen(seen);
}

TEST("a click selects, on a head it sorts, the wheel moves, outside of a menu it closes the menu")
{
	struct seen *seen = open_seen(10, 80, 1);
	click(seen, BROWSE_KEY_CLICK, 4, 5);
	EXPECT_INT(reversed_line(seen), 4);
	click(seen, BROWSE_KEY_WHEEL_UP, 4, 5);
	EXPECT_INT(reversed_line(seen), 2);
	click(seen, BROWSE_KEY_CLICK, 1, 42);
	EXPECT_INT(seen->browser.pages.items[0]->view.sort, 3);
	click(seen, BROWSE_KEY_DOUBLE, 3, 5);
	EXPECT(seen->browser.menu.open);
	click(seen, BROWSE_KEY_CLICK, 0, 0);
	EXPECT(!seen->browser.menu.open);
	click(seen, BROWSE_KEY_CLICK, 8, 0);
	click(seen, BROWSE_KEY_CLICK, 500, 5000);
	close_seen(seen);
}

TEST("a range that is marked on the time strip is read again, and undone")
{
	struct seen *seen = open_seen(14, 50, 1);
	press(seen, 'T');
	press(seen, BROWSE_KEY_END);
	press(seen, BROWSE_KEY_ENTER);
	press(seen, BROWSE_KEY_PAGE_UP);
	press(seen, BROWSE_KEY_ENTER);
	EXPECT(seen->browser.waiting);
	EXPECT(seen->start > 1800000000 && seen->start < 1890000000);
	EXPECT(seen->end >= 1990000000 && seen->end < 2010000000);
	publish(seen, 2, 1, true);
	browser_paint(&seen->browser, &seen->screen);
	EXPECT(!seen->browser.waiting);
	EXPECT_STR(line(seen, 6), "");
	press(seen, 'u');
	EXPECT_INT(seen->start, 0);
	EXPECT(seen->end == UINT64_MAX);
	close_seen(seen);
}

TEST("the first line has the range of time in seconds, which ESC undoes on the first page, after the filters")
{
	struct seen *seen = open_seen(14, 100, 1);
	press(seen, 'T');
	press(seen, BROWSE_KEY_HOME);
	press(seen, BROWSE_KEY_ENTER);
	press(seen, BROWSE_KEY_END);
	press(seen, BROWSE_KEY_ENTER);
	publish(seen, 2, 1, true);
	browser_paint(&seen->browser, &seen->screen);
	EXPECT_STR(line(seen, 0), "Samples: 1.2K of event 'cycles', Event count (approx.): 100, only 0.000 to 0.992 s");
	press(seen, BROWSE_KEY_ESCAPE); /* the strip */
	press(seen, 'd');
	press(seen, BROWSE_KEY_ESCAPE);
	EXPECT_INT(seen->browser.ranges.count, 1);
	press(seen, 'h');
	press(seen, BROWSE_KEY_ESCAPE);
	EXPECT_INT(seen->browser.ranges.count, 1);
	press(seen, BROWSE_KEY_ESCAPE);
	EXPECT_INT(seen->browser.ranges.count, 0);
	EXPECT(seen->end == UINT64_MAX);
	close_seen(seen);
}

TEST("the letter of a menu's item chooses it, q closes a menu without such an item, and other letters do nothing")
{
	struct seen *seen = open_seen(14, 100, 1);
	press(seen, BROWSE_KEY_ENTER);
	EXPECT_STR(line(seen, 13), "ENTER:choose  ESC:close");
	press(seen, 'w');
	EXPECT(seen->browser.menu.open);
	press(seen, 'd');
	EXPECT(!seen->browser.menu.open);
	EXPECT_STR(line(seen, 0), "Samples: 1.2K of event 'cycles', Event count (approx.): 100, only dso = cc1");
	press(seen, 'o');
	press(seen, 'q');
	EXPECT(!seen->browser.menu.open && !seen->browser.quit);
	press(seen, BROWSE_KEY_ENTER);
	press(seen, 'q');
	EXPECT(seen->browser.quit);
	close_seen(seen);
}

TEST("a tab of a line reaches to the next multiple of eight columns")
{
	struct cell cell = cell_text("\ta\tif (b)\t;");
	CLEANUP_STR struct str text = { 0 };
	str_puts(&text, "before");
	face_add(&cell, &text);
	EXPECT_STR(text.text, "before        a       if (b)  ;");
}

TEST("a menu whose last item was chosen in a small terminal fills a larger one, up to all items")
{
	struct seen *seen = open_seen(4, 80, 1);
	const struct browse_menu *menu = &seen->browser.menu;
	press(seen, 'm');
	size_t count = menu->items.count;
	EXPECT(count > 4);
	press(seen, BROWSE_KEY_END);
	EXPECT_INT(menu->selected, count - 1);
	EXPECT_INT(menu->top, count - 1);
	screen_resize(&seen->screen, 6, 80);
	browser_paint(&seen->browser, &seen->screen);
	EXPECT_INT(menu->top, count - 3);
	EXPECT(strstr(line(seen, menu->line + 3), menu->items.items[count - 1].label));
	screen_resize(&seen->screen, count + 9, 80);
	browser_paint(&seen->browser, &seen->screen);
	EXPECT_INT(menu->top, 0);
	EXPECT(strstr(line(seen, menu->line + 1), menu->items.items[0].label));
	EXPECT(strstr(line(seen, menu->line + count), menu->items.items[count - 1].label));
	close_seen(seen);
}

TEST("the menu of a row has what the recording's source can do")
{
	struct seen *seen = open_seen(20, 100, 1);
	press(seen, BROWSE_KEY_ENTER);
	size_t all = seen->browser.menu.items.count;
	press(seen, BROWSE_KEY_ESCAPE);
	seen->browser.source.read = NULL; /* it cannot be read again: no flame graph, no range of time */
	press(seen, BROWSE_KEY_ENTER);
	EXPECT_INT(seen->browser.menu.items.count, all - 2);
	press(seen, BROWSE_KEY_ESCAPE);
	close_seen(seen);
}

TEST("a short count has at most three digits and the letter of its unit")
{
	static const struct {
		uint64_t count;
		const char *text;
	} rows[] = { { 0, "0" }, { 999, "999" }, { 1000, "1.0K" }, { 9940, "9.9K" }, { 12345, "12K" }, { 1000000, "1.0M" },
		{ 25000000000, "25G" }, { 3000000000000, "3.0T" }, { 4000000000000000, "4000T" } };
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		CLEANUP_STR struct str text = { 0 };
		face_add_short(rows[i].count, &text);
		EXPECT_STR(str_text(&text), rows[i].text);
	}
}

TEST("results of a range that the user has left are not shown")
{
	struct seen *seen = open_seen(14, 50, 1);
	seen->browser.request = 7;
	struct feed_shot *shot = memory_zero(1, sizeof *shot);
	shot->request = 6;
	feed_publish(&seen->feed, shot);
	EXPECT(!browser_poll(&seen->browser));
	close_seen(seen);
}

TEST("the key of the flame graph asks for the graph of the event shown")
{
	struct seen *seen = open_seen(14, 50, 2);
	press(seen, BROWSE_KEY_ENTER);
	press(seen, 'g');
	EXPECT_STR(seen->flame, "cycles");
	EXPECT_STR(line(seen, 1), "  reading ...");
	press(seen, BROWSE_KEY_UP);
	press(seen, BROWSE_KEY_ENTER);
	press(seen, 'x');
	press(seen, BROWSE_KEY_ENTER);
	EXPECT_STR(line(seen, 13), "the flame graph is not read yet");
	press(seen, BROWSE_KEY_ESCAPE);
	EXPECT_STR(line(seen, 0), "[reading] Samples: 1.2K of event 'cycles', Event c");
	close_seen(seen);
}

TEST("a running measurement has no filter by time; its flame graph is asked for by the event, and missing where nothing can make it")
{
	struct seen *seen = open_seen(14, 60, 1);
	seen->browser.source.read = NULL;
	press(seen, 'g');
	EXPECT_STR(line(seen, 13), "this result has no flame graph");
	EXPECT_INT(seen->browser.pages.count, 1);
	seen->browser.heat.width_ns = 0; /* as of a comparison: no times */
	press(seen, 'T');
	EXPECT_STR(line(seen, 13), "this result has no time strip; --time chooses a range");
	EXPECT(!seen->browser.strip.shown);
	seen->browser.source.flame = take_flame;
	press(seen, 'g');
	EXPECT_STR(seen->flame, "cycles");
	EXPECT_INT(seen->browser.pages.count, 2);
	close_seen(seen);
}

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

TEST("ENTER in the help presses the key of the line, and does nothing on lines without one")
{
	struct seen *seen = open_seen(60, 100, 1);
	press(seen, 'h');
	type(seen, "/");
	type(seen, "dso|shared object$");
	press(seen, BROWSE_KEY_ENTER);
	EXPECT(strstr(line(seen, 1), "  d "));
	press(seen, BROWSE_KEY_ENTER);
	EXPECT_STR(line(seen, 0), "Samples: 1.2K of event 'cycles', Event count (approx.): 100, only dso = cc1");
	press(seen, 'h');
	press(seen, BROWSE_KEY_END);
	press(seen, BROWSE_KEY_ENTER);
	EXPECT_INT(seen->browser.pages.count, 1);
	EXPECT_INT(seen->browser.pages.items[0]->view.filters.count, 1);
	close_seen(seen);
}

TEST("filters of a page that is left are no longer undone: the newest of the page shown is")
{
	struct seen *seen = open_seen(14, 100, 1);
	press(seen, 'd');
	press(seen, 'T');
	press(seen, BROWSE_KEY_ENTER);
	press(seen, BROWSE_KEY_END);
	press(seen, BROWSE_KEY_ENTER);
	press(seen, BROWSE_KEY_UP);
	publish(seen, 5, 1, true);
	press(seen, 'h');
	type(seen, "/");
	type(seen, "dso");
	press(seen, BROWSE_KEY_ENTER);
	press(seen, 'q');
	press(seen, 'u'); /* the range, which is newer than the filter */
	EXPECT_INT(seen->browser.ranges.count, 0);
	EXPECT_INT(seen->browser.pages.items[0]->view.filters.count, 1);
	publish(seen, 5, 1, true);
	press(seen, 'u');
	EXPECT_INT(seen->browser.pages.items[0]->view.filters.count, 0);
	EXPECT_INT(seen->browser.undo.count, 0);
	close_seen(seen);
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

TEST("what is exported is what is shown")
{
	if (!setlocale(LC_CTYPE, "C.UTF-8")) {
		unit_skip("the C library here has no UTF-8; native builds run it");
		return;
	}
	struct seen *seen = open_seen(10, 80, 1);
	press(seen, '/');
	type(seen, "] (li|b)");
	press(seen, BROWSE_KEY_ENTER);
	press(seen, 'o');
	press(seen, BROWSE_KEY_DOWN);
	press(seen, ' ');
	press(seen, BROWSE_KEY_ESCAPE);
	press(seen, 'P');
	EXPECT_STR(str_text(&seen->saved), "Samples: 1.2K of event 'cycles', Event count (approx.): 100, only /] (li|b)/\n"
		"  Overhead  Shared Object  Symbol\n     4.00%  ld             [.] link\n     1.00%  ld             [.] b\xc3\xbc" "cher?[31m\n");
	EXPECT_STR(line(seen, 9), "written: perf.hist.0");
	press(seen, 'x');
	press(seen, BROWSE_KEY_DOWN);
	press(seen, BROWSE_KEY_ENTER);
	EXPECT_STR(str_text(&seen->saved), "2 rows, 3 columns");
	close_seen(seen);
}

TEST("every key is harmless on every page and every size of screen, also before the first result")
{
	static const uint32_t keys[] = { 'q', 'h', '+', 'e', 'c', 'E', 'C', 'a', 'd', 't', 'k', 'S', 'L', 'u', 'F', 'H', '^', 'T', '<', '>', 'R',
		'*', '@', 'P', 'x', 'i', 's', 'r', 'v', 'f', 'z', '!', 'm', 'n', 'N', '0', '9', 'o', 'g', BROWSE_KEY_FIND, BROWSE_KEY_UP, BROWSE_KEY_DOWN,
		BROWSE_KEY_LEFT, BROWSE_KEY_RIGHT, BROWSE_KEY_HOME, BROWSE_KEY_END, BROWSE_KEY_TAB, BROWSE_KEY_ENTER, BROWSE_KEY_ESCAPE, ' ', '7',
		BROWSE_KEY_PAGE_DOWN, BROWSE_KEY_CLICK, BROWSE_KEY_DOUBLE, BROWSE_KEY_RELEASE, BROWSE_KEY_WHEEL_DOWN, BROWSE_KEY_INTERRUPT, 0x10ffff };
	static const size_t sizes[][2] = { { 1, 1 }, { 2, 3 }, { 5, 20 }, { 8, 10 }, { 60, 300 } };
	uint32_t random = 12345;
	for (size_t size = 0; size < 5; size++) {
		struct seen *seen = open_seen(sizes[size][0], sizes[size][1], size % 3);
		for (int i = 0; i < 3000; i++) {
			random = random * 1664525 + 1013904223;
			click(seen, keys[(random >> 16) % (sizeof keys / sizeof *keys)], random >> 8 & 15, random >> 12 & 63);
			if (i % 50 == 0)
				publish(seen, (random >> 10) % 4 + 2, size % 3, true);
			seen->browser.quit = false;
			EXPECT(seen->browser.pages.count >= 1);
		}
		close_seen(seen);
	}
}

TEST("keys move the cursor of the time strip within its columns, and leave the strip in steps")
{
	static const struct {
		uint32_t key;
		size_t cursor;
	} cases[] = {
		{ BROWSE_KEY_HOME, 0 }, { BROWSE_KEY_LEFT, 0 }, { BROWSE_KEY_RIGHT, 1 }, { BROWSE_KEY_PAGE_DOWN, 9 }, { BROWSE_KEY_PAGE_UP, 1 },
		{ BROWSE_KEY_PAGE_UP, 0 }, { BROWSE_KEY_END, 79 }, { BROWSE_KEY_RIGHT, 79 }, { BROWSE_KEY_PAGE_DOWN, 79 }, { BROWSE_KEY_LEFT, 78 },
		{ '0', 0 }, { '1', 8 }, { '9', 72 }, { 'x', 72 }, { BROWSE_KEY_PAGE_DOWN, 79 }, { '5', 40 },
	};
	struct seen *seen = open_seen(12, 80, 1);
	const struct browse_strip *strip = &seen->browser.strip;
	press(seen, 'T');
	EXPECT(strip->active && strip->shown);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		press(seen, cases[i].key);
		EXPECT_INT(strip->cursor, cases[i].cursor);
		EXPECT(strip->active && strip->shown && strip->mark == SIZE_MAX && !seen->browser.quit);
	}
	press(seen, ' ');
	EXPECT_INT(strip->mark, 40);
	press(seen, BROWSE_KEY_ESCAPE); /* the mark, then the strip */
	EXPECT(strip->mark == SIZE_MAX && strip->active && strip->shown);
	static const uint32_t leave[] = { BROWSE_KEY_ESCAPE, 'T', 'q' };
	for (size_t i = 0; i < 3; i++) {
		press(seen, leave[i]);
		EXPECT(!strip->active && !strip->shown);
		press(seen, 'T');
		EXPECT(strip->active && strip->shown);
	}
	static const uint32_t page[] = { BROWSE_KEY_UP, BROWSE_KEY_DOWN, BROWSE_KEY_TAB };
	for (size_t i = 0; i < 3; i++) {
		press(seen, page[i]);
		EXPECT(!strip->active && strip->shown); /* the page has the keys, and the strip is still visible */
		press(seen, BROWSE_KEY_TAB);
		seen->browser.strip.active = true;
	}
	press(seen, BROWSE_KEY_INTERRUPT);
	EXPECT(seen->browser.quit);
	close_seen(seen);
}

TEST("of a marked range both ends are included, in either order of the marks")
{
	for (int reverse = 0; reverse < 2; reverse++) {
		struct seen *seen = open_seen(12, 80, 1);
		press(seen, 'T');
		press(seen, reverse ? '7' : '3');
		press(seen, BROWSE_KEY_ENTER);
		press(seen, reverse ? '3' : '7');
		press(seen, BROWSE_KEY_ENTER);
		/* 1 s of samples in 80 columns: from column 24 up to the end of column 56 */
		EXPECT(seen->start >= 1290000000 && seen->start <= 1310000000);
		EXPECT(seen->end >= 1700000000 && seen->end <= 1720000000);
		EXPECT_INT(seen->browser.ranges.count, 1);
		EXPECT(seen->browser.strip.mark == SIZE_MAX);
		close_seen(seen);
	}
}
