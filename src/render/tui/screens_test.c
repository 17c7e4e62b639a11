/* The screens after each key of long series of keys, compared with test/tui/screens: what changed of the last screen,
	with its styles. See stored.h. */
#include <locale.h>
#include <stdlib.h>

#include "base/memory.h"
#include "render/tui/browser.h"
#include "stored.h"

#define STORED "test/tui/screens"

enum { ROWS = 40, CODE_LINES = 30, SECOND = 1000000000 };

/* Functions of five modules, all different. */
static size_t entry_count(void *context, uint64_t parent)
{
	return parent == TABLE_TOP ? ROWS : 0;
}

static const char *const functions[] = { "parse", "memcpy", "do_read", "a_name_that_is_longer_than_the_column_of_most_screens",
	"b\xc3\xbc" "cher",
	"std::vector<int>::push_back(int const&)", "main", "tab\there", "\xe6\x97\xa5\xe6\x9c\xac", "" };

static struct cell place_of(uint64_t number)
{
	static const char *const modules[] = { "cc1", "libc.so.6", "[kernel.kallsyms]", "ld", NULL };
	const char *name = functions[number % 10];
	return (struct cell){ .kind = CELL_PLACE, .place = { .module = modules[number % 5], .symbol = *name ? name : NULL,
		.address = 0x401000 + number * 16,
		.offset = number, .line = number % 3 ? NULL : "file.c:12", .level = number % 5 == 2 ? 'k' : '.',
			.inlined = number % 7 == 6 } };
}

static struct cell entry_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	static const char *const comms[] = { "cc1", "ld", "as" };
	struct cell place = place_of(row);
	switch (column) {
	case 0:
		return (struct cell){ .kind = CELL_SHARE, .share = { (ROWS - row) * 2 + 1, 1600 } };
	case 1:
		return (struct cell){ .kind = CELL_SHARE, .share = { row % 5 ? row : 0, 1600 } };
	case 2:
		return (struct cell){ .kind = CELL_TASK, .task = { .tid = (int32_t)(100 + row % 4), .comm = comms[row % 3] } };
	case 3:
		return cell_text(comms[row % 3]);
	case 4:
		return cell_text(place.place.module);
	case 5:
		return place;
	case 6:
		return row % 4 ? cell_count(row * row * 1000) : cell_absent();
	case 7:
		return (struct cell){ .kind = CELL_TIME, .count = row * 123456789 };
	default:
		return cell_flag(row % 2);
	}
}

/* Callers of a row: two, of which the first has two of its own, and one of these one. */
static size_t caller_count(void *context, uint64_t parent)
{
	return parent == TABLE_TOP ? 2 : parent == 1 ? 2 : parent == 3 ? 1 : 0;
}

static uint64_t caller_row(void *context, uint64_t parent, size_t index)
{
	return parent == TABLE_TOP ? index + 1 : parent == 1 ? 3 + index : 5;
}

static struct cell caller_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	static const uint64_t periods[] = { 0, 60, 40, 35, 25, 35 };
	return column ? place_of(row + *(const uint64_t *)context) : cell_count(periods[row]);
}

static bool entry_detail(void *context, uint64_t row, struct table *detail)
{
	static const struct table_column columns[] = { { "period", "Period", NULL, CELL_COUNT }, { "place", "Place", NULL, CELL_PLACE } };
	static uint64_t of;
	of = row;
	*detail = (struct table){ .name = "callers", .tree = true, .columns = columns, .column_count = 2, .context = &of,
		.row_count = caller_count, .row = caller_row, .cell = caller_cell };
	return row % 3 == 1;
}

static struct snapshot *entries(const char *event)
{
	static const struct table_column columns[] = { { "overhead_children", "Children", NULL, CELL_SHARE }, { "overhead", "Self", NULL,
		CELL_SHARE },
		{ "pid", "Pid:Command", NULL, CELL_TASK }, { "comm", "Command", NULL, CELL_TEXT }, { "dso", "Shared Object", NULL,
			CELL_TEXT },
		{ "symbol", "Symbol", NULL, CELL_PLACE }, { "period", "Period", NULL, CELL_COUNT }, { "time", "Time", NULL, CELL_TIME },
		{ "odd", "Odd", NULL, CELL_FLAG } };
	const struct table_fact facts[] = { { "event", cell_text(event) }, { "samples", cell_count(123456) }, { "period",
		cell_count(1600) } };
	const struct table table = { .name = "entries", .columns = columns, .column_count = sizeof columns / sizeof *columns,
		.facts = facts,
		.fact_count = 3, .row_count = entry_count, .row = table_row_in_order, .cell = entry_cell, .detail = entry_detail };
	return snapshot_new(&table, 1000);
}

/* Lines of code: a line of source before each fifth instruction, jumps, a call. */
static size_t code_count(void *context, uint64_t parent)
{
	return parent == TABLE_TOP ? CODE_LINES : 0;
}

static struct cell code_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	bool source = row % 5 == 1;
	switch (column) {
	case 0:
		return source || row % 4 == 0 ? cell_absent() : (struct cell){ .kind = CELL_SHARE, .share = { row * 7 % 31, 400 } };
	case 1:
		return source ? cell_absent() : cell_count(row * 3);
	case 2:
		return source ? cell_absent() : cell_address(0x401000 + row * 4);
	case 3:
		return source ? cell_absent() : cell_count(row * 4);
	case 4:
		return row % 7 == 3 ? cell_count(row) : cell_absent();
	case 5:
		return row % 6 == 2 && !source ? cell_count(row > 15 ? row - 11 : row + 9) : cell_absent();
	case 6:
		return source ? cell_text("file.c:12") : cell_absent();
	case 7:
		return row == 9 ? place_of(1) : cell_absent();
	default:
		str_clear(scratch);
		str_printf(scratch, source ? "\tfor (int i%llu = 0;;)" : row % 6 == 2 ? "jmp    %llx" : "mov    %%rax,%llu(%%rbx)",
			(unsigned long long)row);
		return cell_text(str_text(scratch));
	}
}

static struct snapshot *take_annotate(void *context, const struct snapshot *shot, uint32_t row, struct error *err)
{
	static const struct table_column columns[] = { { "overhead", "Percent", NULL, CELL_SHARE }, { "samples", "Samples", NULL,
		CELL_COUNT },
		{ "address", "Address", NULL, CELL_ADDRESS }, { "offset", "Offset", NULL, CELL_COUNT }, { "jump_sources", "Jumps", NULL,
			CELL_COUNT },
		{ "target_line", "Target", NULL, CELL_COUNT }, { "path", "Path", NULL, CELL_TEXT }, { "callee", "Callee", NULL,
			CELL_PLACE },
		{ "code", "Code", NULL, CELL_TEXT } };
	const struct table_fact facts[] = { { "event", cell_text("cycles") }, { "symbol", cell_text("parse") } };
	const struct table table = { .name = "code", .columns = columns, .column_count = sizeof columns / sizeof *columns, .facts = facts,
		.fact_count = 2, .row_count = code_count, .row = table_row_in_order, .cell = code_cell };
	if (row == 4) {
		error_set(err, ERROR_UNSUPPORTED, "no code is known");
		return NULL;
	}
	return snapshot_new(&table, 0);
}

/* A flame graph of depth 5 with 31 frames: each has two callees, the first of them the heavier one. */
static size_t flame_count(void *context, uint64_t parent)
{
	return parent == TABLE_TOP ? 1 : parent < 16 ? 2 : 0;
}

static uint64_t flame_row(void *context, uint64_t parent, size_t index)
{
	return parent == TABLE_TOP ? 1 : parent * 2 + index;
}

static struct cell flame_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	static const char *const kinds[] = { "root", "task", "user", "kernel", "inline", "jit", "unknown" };
	uint64_t part = 1000;
	for (uint64_t bit = 64 >> (__builtin_clzll(row) - 57); bit > 1; bit >>= 1)
		part = row & bit >> 1 ? part * 3 / 10 : part * 6 / 10;
	switch (column) {
	case 0:
		return (struct cell){ .kind = CELL_SHARE, .share = { part, 1000 } };
	case 1:
		return cell_text(row == 1 ? "all" : functions[row % 9]);
	case 2:
		return cell_text(row % 4 ? "cc1" : NULL);
	default:
		return cell_text(kinds[row == 1 ? 0 : row % 7]);
	}
}

static struct snapshot *flame(void)
{
	static const struct table_column columns[] = { { "weight", "Weight", NULL, CELL_SHARE }, { "name", "Name", NULL, CELL_TEXT },
		{ "module", "Module", NULL, CELL_TEXT }, { "kind", "Kind", NULL, CELL_TEXT } };
	const struct table_fact fact = { "event", cell_text("cycles") };
	const struct table table = { .name = "flame", .facts = &fact, .fact_count = 1, .columns = columns, .column_count = 4, .tree = true,
		.row_count = flame_count, .row = flame_row, .cell = flame_cell };
	return snapshot_new(&table, 0);
}

struct seen {
	struct feed feed;
	struct browser browser;
	struct screen screen, before;
	struct str *log;
};

static void publish(struct seen *seen, size_t events)
{
	static const char *const names[] = { "cycles", "instructions" };
	struct feed_shot *shot = memory_zero(1, sizeof *shot);
	shot->tables = memory_zero(events + 1, sizeof *shot->tables);
	for (size_t i = 0; i < events; i++)
		shot->tables[shot->table_count++] = entries(names[i]);
	shot->flame = seen->browser.flame_event ? flame() : NULL;
	for (uint64_t i = 0; i < 300; i++)
		heat_add(&shot->heat, SECOND + i * i * 100000);
	shot->request = seen->browser.request;
	shot->complete = true;
	feed_publish(&seen->feed, shot);
	browser_poll(&seen->browser);
}

static void take_read(void *context, uint64_t request, uint64_t start_ns, uint64_t end_ns, const char *flame_event)
{
	struct seen *seen = context;
	str_printf(seen->log, "read %llu-%llu %s\n", (unsigned long long)start_ns, (unsigned long long)end_ns,
		flame_event ? flame_event : "none");
}

static int take_save(void *context, const struct browse_export *what, struct str *path, struct error *err)
{
	struct seen *seen = context;
	str_printf(seen->log, "save %d", (int)what->format);
	if (what->text)
		str_printf(seen->log, ":\n%s", what->text);
	if (what->table)
		str_printf(seen->log, " %zu rows", what->table->row_count(what->table->context, TABLE_TOP));
	if (what->flame)
		str_printf(seen->log, " from frame %u", what->flame_root);
	str_puts(seen->log, "\n");
	str_puts(path, "perf.hist.0");
	return 0;
}

static void take_header(void *context, struct str *out)
{
	str_puts(out,
		"# hostname : host\n# a line that is longer than most screens are wide, so that it has to be scrolled sideways\n");
}

static void take_messages(void *context, struct str *out)
{
	str_puts(out, "The kernel lost 3 samples.\n");
}

static void take_files(void *context, struct str *out)
{
	str_puts(out, "perf.data\nperf.data.old\n");
}

static int take_open(void *context, const char *path, struct error *err)
{
	return error_set(err, ERROR_SYSTEM, "%s cannot be opened", path);
}

static int take_script(void *context, const char *comm, struct str *out, struct error *err)
{
	str_printf(out, "%s 1.0: cycles\n%s 2.0: cycles\n", comm ? comm : "all", comm ? comm : "all");
	return 0;
}

/* A line of the screen, and where its styles change. */
static void log_line(struct seen *seen, size_t number)
{
	const struct screen_cell *cells = seen->screen.cells + number * seen->screen.columns;
	str_printf(seen->log, "%2zu|", number);
	screen_line_text(&seen->screen, number, seen->log);
	str_puts(seen->log, "|");
	for (size_t i = 0; i < seen->screen.columns; i++)
		if (!i || cells[i].style != cells[i - 1].style)
			str_printf(seen->log, " %zu:%x", i, cells[i].style);
	str_puts(seen->log, "\n");
}

static void log_changes(struct seen *seen)
{
	size_t columns = seen->screen.columns;
	bool resized = seen->before.lines != seen->screen.lines || seen->before.columns != columns;
	for (size_t i = 0; i < seen->screen.lines; i++)
		if (resized || memcmp(seen->before.cells + i * columns, seen->screen.cells + i * columns,
			columns * sizeof *seen->screen.cells) != 0)
			log_line(seen, i);
	screen_resize(&seen->before, seen->screen.lines, columns);
	memcpy(seen->before.cells, seen->screen.cells, seen->screen.lines * columns * sizeof *seen->screen.cells);
}

static void press(struct seen *seen, const struct browse_event *event)
{
	if (event->key > ' ' && event->key < 127)
		str_printf(seen->log, "> %c\n", (int)event->key);
	else
		str_printf(seen->log, "> %x %zu,%zu\n", event->key, event->line, event->column);
	browser_key(&seen->browser, event);
	browser_work(&seen->browser);
	if (seen->browser.waiting)
		publish(seen, seen->browser.shot ? seen->browser.shot->table_count : 1);
	if (seen->browser.quit) {
		str_puts(seen->log, "quit\n");
		seen->browser.quit = false;
	}
	browser_paint(&seen->browser, &seen->screen);
	log_changes(seen);
}

/* "^X" is a key of the table below, "@LINE,COLUMN " a click. */
static void run(struct str *log, size_t lines, size_t columns, size_t events, const char *keys)
{
	static const struct { char letter; uint32_t key; } named[] = { { 'u', BROWSE_KEY_UP }, { 'd', BROWSE_KEY_DOWN }, { 'l',
		BROWSE_KEY_LEFT },
		{ 'r', BROWSE_KEY_RIGHT }, { 'p', BROWSE_KEY_PAGE_UP }, { 'n', BROWSE_KEY_PAGE_DOWN }, { 'h', BROWSE_KEY_HOME }, { 'e',
			BROWSE_KEY_END },
		{ 'E', BROWSE_KEY_ENTER }, { 'X', BROWSE_KEY_ESCAPE }, { 't', BROWSE_KEY_TAB }, { 'T', BROWSE_KEY_UNTAB }, { 'b',
			BROWSE_KEY_BACKSPACE },
		{ 'f', BROWSE_KEY_FIND }, { 'D', BROWSE_KEY_DELETE }, { 'w', BROWSE_KEY_WHEEL_DOWN }, { 'W', BROWSE_KEY_WHEEL_UP } };
	struct seen *seen = memory_zero(1, sizeof *seen);
	const struct browse_source source = { .context = seen, .feed = &seen->feed, .read = take_read, .save = take_save,
		.annotate = take_annotate,
		.header = take_header, .messages = take_messages, .files = take_files, .open = take_open, .script = take_script,
			.tip = "a tip" };
	str_printf(log, "=== %zux%zu, %zu events\n", lines, columns, events);
	seen->log = log;
	feed_open(&seen->feed, NULL);
	browser_open(&seen->browser, &source);
	screen_resize(&seen->screen, lines, columns);
	seen->screen.ascii = lines == 6;
	browser_paint(&seen->browser, &seen->screen);
	log_changes(seen);
	publish(seen, events);
	browser_paint(&seen->browser, &seen->screen);
	log_changes(seen);
	while (*keys) {
		struct browse_event event = { .key = (unsigned char)*keys++ };
		for (size_t i = 0; event.key == '^' && i < sizeof named / sizeof *named; i++)
			if (named[i].letter == *keys) {
				event.key = named[i].key;
				keys++;
				break;
			}
		if (event.key == '@') {
			event.key = BROWSE_KEY_CLICK;
			event.line = strtoul(keys, (char **)&keys, 10);
			event.column = strtoul(keys + 1, (char **)&keys, 10);
			keys += *keys == ' ';
		}
		press(seen, &event);
	}
	browser_close(&seen->browser);
	feed_close(&seen->feed);
	screen_fini(&seen->screen);
	screen_fini(&seen->before);
	free(seen);
}

/* Pages of tables: the cursor, callers, filters, menus, columns, searches, the time strip, texts. */
static const char tables[] = "^d^d^u+^d+^d+^u-ecEC^e^h^n^n^p^r^r^l^d^d^ddu^d^dtu^d^dkuk^XSu/push^E^u/(^E^bu^XL1^E^XL2%^ELx^E^X^X^XFF/parse"
	"^E"
	"F^XF^fmem^EnnNN^fzzz^E^X"
	"HH^^<><<>>RR*^d*^d*uvV!^Xi^r^r^l^d^uqs^d^E^Xs^Erqr^E^d^Xr^d^E^Xo^d^E^o^d^d^Eo^Eo^e^E^X@0,3 @1,3 @1,30 @5,5 "
	"@5,5 ^w^w^Wm^d^d^u^XmE^Xm^Em^d^E^X"
	"m^d^d^E^Xm^e^E^XT^r^r^E^r^r^r^E^XT5^l^hT9^E2^E^XTT^t^T01x^Ex^d^Ex^d^d^EP^ttT^X^X^Xz fzh^d^d^n^n^n/time^E^Xq^fb^Eqqy";
/* Pages of code and flame graphs. */
static const char codes[] = "a^d^d^d^E^t^t^TstttppbbjJJkllOOcHH/mov^EnnN?for^En^Xo^d^E^Xx^EP^hu+^d^da^X^d^da^E^Xa^d^d^d^d^d^d^d^E^XqgEE^d^d"
	"^r^l^u^u^E^d^E^X^X^fmem^En"
	"x^E^Xx^d^E^Xx^d^d^d^E^X@5,10 @6,50 @3,2 ^w^WT^r^E^r^E^X^Xh^Xqqgq^dgqag^X^X";

static void make_all(struct str *log)
{
	run(log, 10, 100, 2, "^d^d^u^E^t^T^t");
	run(log, 12, 110, 1, tables);
	run(log, 7, 45, 2, tables);
	run(log, 14, 100, 1, codes);
	run(log, 6, 40, 1, codes);
}

TEST("the screens after long series of keys are as stored")
{
	if (!setlocale(LC_CTYPE, "C.UTF-8")) {
		unit_skip("the C library here has no UTF-8; native builds run it");
		return;
	}
	CLEANUP_STR struct str got = { 0 };
	make_all(&got);
	stored_compare(STORED, &got);
}
