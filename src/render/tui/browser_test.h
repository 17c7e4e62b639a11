/* A browser over a report of tests (tui_test.h), on a separate screen, with the keys that a person presses. */
#pragma once
#include "base/memory.h"
#include "render/tui/browser.h"
#include "render/tui/tui_test.h"
#include "unit.h"

/* A browser over two events, on a separate screen. */
struct seen {
	struct feed feed;
	struct browser browser;
	struct screen screen;
	uint64_t start, end;   /* of the last request */
	char flame[32];
	struct str saved;
};

static inline void take_read(void *context, uint64_t request, uint64_t start_ns, uint64_t end_ns, const char *flame_event)
{
	struct seen *seen = context;
	seen->start = start_ns;
	seen->end = end_ns;
	snprintf(seen->flame, sizeof seen->flame, "%s", flame_event ? flame_event : "");
}

static inline void take_flame(void *context, const char *event)
{
	struct seen *seen = context;
	snprintf(seen->flame, sizeof seen->flame, "%s", event);
}

static inline int take_save(void *context, const struct browse_export *what, struct str *path, struct error *err)
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

static inline void publish(struct seen *seen, size_t rows, size_t events, bool complete)
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

static inline struct seen *open_seen(size_t lines, size_t columns, size_t events)
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

static inline void close_seen(struct seen *seen)
{
	browser_close(&seen->browser);
	feed_close(&seen->feed);
	screen_fini(&seen->screen);
	str_fini(&seen->saved);
	free(seen);
}

static inline void press(struct seen *seen, uint32_t key)
{
	browser_key(&seen->browser, &(struct browse_event){ .key = key });
	browser_work(&seen->browser);
	browser_paint(&seen->browser, &seen->screen);
}

static inline void type(struct seen *seen, const char *text)
{
	for (; *text; text++)
		press(seen, (unsigned char)*text);
}

static inline void click(struct seen *seen, uint32_t key, size_t line, size_t column)
{
	browser_key(&seen->browser, &(struct browse_event){ key, line, column });
	browser_work(&seen->browser);
	browser_paint(&seen->browser, &seen->screen);
}

static inline const char *line(const struct seen *seen, size_t number)
{
	static struct str text;
	str_clear(&text);
	screen_line_text(&seen->screen, number, &text);
	return str_text(&text);
}

static inline size_t reversed_line(const struct seen *seen)
{
	for (size_t i = 2; i + 1 < seen->screen.lines; i++)
		if (seen->screen.cells[i * seen->screen.columns].style & STYLE_REVERSE)
			return i;
	return 0;
}
