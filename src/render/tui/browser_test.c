#include "render/tui/browser_test.h"

#include <locale.h>

#include "render/tui/face.h"

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
