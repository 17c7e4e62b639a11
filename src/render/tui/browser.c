/* Pages: opening, closing, newer results. */
#include "render/tui/browser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "render/tui/browser_state.h"

/* A text as a table of one column. */
struct text_table {
	VEC(char *) lines;
};

static size_t text_count(void *context, uint64_t parent)
{
	const struct text_table *text = context;
	return parent == TABLE_TOP ? text->lines.count : 0;
}

static struct cell text_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	const struct text_table *text = context;
	return cell_text(text->lines.items[row - 1]);
}

struct snapshot *snapshot_of_text(const char *text)
{
	static const struct table_column column = { "text", "Text", NULL, CELL_TEXT };
	struct text_table lines = { 0 };
	char *copy = memory_string(text), *rest = copy;
	for (char *line; (line = strsep(&rest, "\n"));)
		if (*line || rest)
			vec_push(&lines.lines, line);
	struct table table = { .name = "text", .columns = &column, .column_count = 1, .context = &lines, .row_count = text_count,
		.row = table_row_in_order, .cell = text_cell };
	struct snapshot *snapshot = snapshot_new(&table, 0);
	vec_fini(&lines.lines);
	free(copy);
	return snapshot;
}

/* The events of the results, as a table. */
static size_t event_count(void *context, uint64_t parent)
{
	const struct feed_shot *shot = context;
	return parent == TABLE_TOP ? shot->table_count : 0;
}

static struct cell event_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	const struct feed_shot *shot = context;
	const struct snapshot *table = shot->tables[row - 1];
	if (column)
		return cell_text(table->label);
	return cell_count(*table->event ? table->samples : table->rows.items[SNAPSHOT_TOP].child_count);
}

static struct snapshot *snapshot_of_events(struct feed_shot *shot)
{
	static const struct table_column columns[] = { { "samples", "Samples", NULL, CELL_COUNT }, { "event", "Event", NULL, CELL_TEXT } };
	static const struct table_column plain[] = { { "rows", "Rows", NULL, CELL_COUNT }, { "table", "Table", NULL, CELL_TEXT } };
	bool events = shot->table_count && *shot->tables[0]->event;
	struct table table = { .name = events ? "events" : "tables", .columns = events ? columns : plain, .column_count = 2, .context = shot,
		.row_count = event_count, .row = table_row_in_order, .cell = event_cell };
	return snapshot_new(&table, 0);
}

void browser_note(struct browser *browser, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(browser->note, sizeof browser->note, format, args);
	va_end(args);
	browser->error_note = browser->hot_note = false;
}

void browser_error(struct browser *browser, const struct error *err)
{
	struct str *whole = &browser->last_error;
	str_clear(whole);
	str_printf(whole, "%s%s%s", err->text, *err->hint ? ": " : "", err->hint);
	bool fits = text_columns(str_text(whole)) <= browser->columns;
	browser_note(browser, "%s%s", fits ? "" : "(! shows all) ", str_text(whole));
	browser->error_note = true;
}

struct browse_page *browser_push(struct browser *browser, enum browse_page_kind kind, const char *title)
{
	struct browse_page *page = memory_zero(1, sizeof *page);
	page->kind = kind;
	page->title = title ? memory_string(title) : NULL;
	view_init(&page->view);
	vec_push(&browser->pages, page);
	return page;
}

void browser_push_text(struct browser *browser, const char *title, const char *text)
{
	struct browse_page *page = browser_push(browser, PAGE_LINES, title);
	page->own = snapshot_of_text(text);
	view_adopt(&page->view, page->own);
}

static void page_free(struct browse_page *page)
{
	view_fini(&page->view);
	snapshot_free(page->own);
	snapshot_free(page->function);
	free(page->title);
	free(page);
}

void browser_forget(struct browser *browser, enum browse_undo kind, size_t count)
{
	for (size_t i = browser->undo.count; count && i-- > 0;) {
		if (browser->undo.items[i] != kind)
			continue;
		memmove(browser->undo.items + i, browser->undo.items + i + 1, (--browser->undo.count - i) * sizeof *browser->undo.items);
		count--;
	}
}

void browser_pop(struct browser *browser)
{
	struct browse_page *page = browser->pages.items[browser->pages.count - 1];
	if (browser->pages.count == 1) {
		browser->quit = true;
		return;
	}
	browser->pages.count--;
	browser_forget(browser, UNDO_FILTER, page->view.filters.count);
	page_free(page);
	if (browser->source.feed && !browser_page(browser)->code)
		atomic_store(&browser->source.feed->shows_code, false);
}

void browser_open(struct browser *browser, const struct browse_source *source)
{
	*browser = (struct browser){ .source = *source, .strip = { .mark = SIZE_MAX }, .waiting = source->feed != NULL };
	browser->lines = 24;
	browser->columns = 80;
	browser_push(browser, PAGE_TABLE, NULL);
}

void browser_close(struct browser *browser)
{
	for (size_t i = 0; i < browser->pages.count; i++)
		page_free(browser->pages.items[i]);
	vec_fini(&browser->pages);
	menu_close(browser);
	str_fini(&browser->prompt.text);
	str_fini(&browser->last_error);
	vec_fini(&browser->ranges);
	vec_fini(&browser->undo);
	free(browser->flame_event);
	free(browser->work.argument);
	feed_shot_free(browser->shot);
	*browser = (struct browser){ 0 };
}

/* NULL: these results have no table with this label. */
static const struct snapshot *table_of(const struct feed_shot *shot, const char *label)
{
	for (size_t i = 0; label && i < shot->table_count; i++)
		if (strcmp(shot->tables[i]->label, label) == 0)
			return shot->tables[i];
	return NULL;
}

static void hide_noise(struct browser *browser, struct view *view)
{
	size_t count = view->lines.count;
	view_filter_share(view, browser->source.least_percent);
	if (view->lines.count < count)
		vec_push(&browser->undo, UNDO_FILTER);
	else
		view_filter_undo(view);
}

/* In a flame graph that is new. */
static void select_function(struct browser *browser, struct browse_page *page)
{
	const char *name = page->function ? code_function_name(page->function) : NULL;
	if (name && !flame_view_select(&page->flame, name))
		browser_note(browser, "%s is in no frame that is wide enough to be stored", name);
	snapshot_free(page->function);
	page->function = NULL;
}

void browser_adopt_page(struct browser *browser, struct browse_page *page)
{
	const struct feed_shot *shot = browser->shot;
	if (page->kind == PAGE_EVENTS) {
		struct snapshot *events = snapshot_of_events(browser->shot);
		view_adopt(&page->view, events);
		snapshot_free(page->own);
		page->own = events;
	} else if (page->kind == PAGE_TABLE) {
		const struct snapshot *table = table_of(shot, page->title);
		if (!table && shot->table_count)
			table = shot->tables[0];
		if (!table && !page->own)
			page->own = snapshot_of_text("");
		bool first = !page->view.shot;
		view_adopt(&page->view, table ? table : page->own);
		if (first && table && browser->source.least_percent > 0)
			hide_noise(browser, &page->view);
	} else if (page->code && shot->code && code_is_newer(page, shot->code)) {
		struct snapshot *old = page->own;
		page->own = browser->shot->code;
		browser->shot->code = NULL;
		view_adopt(&page->view, page->own);
		snapshot_free(old);
	} else if (page->code && browser->source.read && shot->complete && shot->request) {
		code_again(browser, page);
	} else if (page->kind == PAGE_FLAME && shot->flame) {
		flame_view_adopt(&page->flame, shot->flame);
		select_function(browser, page);
	} else if (page->kind == PAGE_FLAME) {
		flame_view_drop(&page->flame);
	}
}

/* With several events the first page lists them, as soon as that is known. */
static void list_events(struct browser *browser)
{
	struct browse_page *first = browser->pages.items[0];
	if (first->kind != PAGE_TABLE || first->title || browser->shot->table_count < 2 || first->view.moved)
		return;
	first->kind = PAGE_EVENTS;
	first->view.moved = false;
}

/* Where callers were followed by frame pointers through code without them, the first rows can be addresses that are no functions. */
static void note_wrong_callers(struct browser *browser)
{
	const struct view *view = &browser_page(browser)->view;
	uint32_t row = browser_page(browser)->kind == PAGE_TABLE && view->shot ? view_row(view) : UINT32_MAX;
	size_t place = row == UINT32_MAX ? SIZE_MAX : snapshot_column_of_kind(&view->shot->columns, CELL_PLACE);
	if (place == SIZE_MAX || view->moved || !view->shot->details.count)
		return;
	const struct cell *cell = snapshot_cell(view->shot, row, place);
	if (cell->kind == CELL_PLACE && !cell->place.symbol && (!cell->place.module || !*cell->place.module))
		browser_note(browser, "addresses in no file are wrong callers: record --call-graph unwind; ^: the hottest row");
}

bool browser_poll(struct browser *browser)
{
	struct feed_shot *shot = browser->frozen || !browser->source.feed ? NULL : feed_take(browser->source.feed);
	browser->quit |= browser->source.feed && atomic_load(&browser->source.feed->ended);
	if (!shot)
		return false;
	if (shot->request != browser->request) { /* of a range that the user has left already */
		feed_shot_free(shot);
		return false;
	}
	struct feed_shot *old = browser->shot;
	bool old_complete = old && old->complete;
	browser->shot = shot;
	browser->waiting = !shot->complete;
	if (!browser->ranges.count && shot->heat.width_ns)
		browser->heat = shot->heat;
	list_events(browser);
	for (size_t i = 0; i < browser->pages.count; i++)
		browser_adopt_page(browser, browser->pages.items[i]);
	feed_shot_free(old);
	if (shot->complete && !old_complete && !shot->request)
		note_wrong_callers(browser);
	if (shot->complete && !old_complete && browser->source.first_key && !browser->touched && shot->table_count == 1)
		browser_key(browser, &(struct browse_event){ .key = browser->source.first_key });
	if (browser->hot_note && browser_page(browser)->code)
		code_renew_note(browser);
	if (shot->failure) {
		browser_note(browser, "%s", shot->failure);
		browser->error_note = true;
	}
	return true;
}
