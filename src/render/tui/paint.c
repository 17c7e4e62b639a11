/* A page as a screen: the first line, heads of columns, rows, the bottom line. */
#include <stdlib.h>
#include <string.h>

#include "analysis/table/cell_text.h"
#include "render/tui/browser_state.h"
#include "render/tui/face.h"

enum { INDENT = 3, WIDTH_MAX = 60 };

struct browse_layout browser_layout(const struct browser *browser)
{
	const struct browse_page *page = browser_page(browser);
	struct browse_layout layout = { .heads = SIZE_MAX, .strip = SIZE_MAX, .first = 1 };
	layout.last = browser->lines > 2 ? browser->lines - 1 : browser->lines;
	bool heads = page->kind == PAGE_TABLE || page->kind == PAGE_EVENTS || page->code;
	if (browser->strip.shown && (page->kind != PAGE_LINES || page->code) && browser->lines >= 8) {
		layout.strip = layout.first;
		layout.first += 2;
	}
	if (heads && !browser->no_heads && browser->lines >= 5)
		layout.heads = layout.first++;
	if (layout.first > layout.last)
		layout.first = layout.last;
	return layout;
}

/* A heading has the unit of its cells if it is short: names of events are in the page's title. */
static void add_head(const struct table_column *column, struct str *out)
{
	enum { UNIT_MOST = 3 };
	const char *unit = column->kind == CELL_TIME ? "s" : column->unit;
	face_add(&(struct cell){ .kind = CELL_TEXT, .text = column->title ? column->title : "" }, out);
	if (unit && *unit && strlen(unit) <= UNIT_MOST)
		str_printf(out, " (%s)", unit);
}

/* The last column is as wide as the rest of the line. */
static size_t column_width(const struct view *view, size_t column)
{
	const struct snapshot *shot = view->shot;
	CLEANUP_STR struct str text = { 0 };
	add_head(&shot->columns.items[column], &text);
	size_t width = text_columns(str_text(&text));
	size_t end = view->top + view->height < view->lines.count ? view->top + view->height : view->lines.count;
	for (size_t i = view->top; i < end; i++) {
		uint32_t row = view->lines.items[i].row;
		if (shot->rows.items[row].detail)
			continue;
		str_clear(&text);
		view_cell_text(view, row, column, &text);
		size_t columns = text_columns(str_text(&text));
		width = columns > width ? columns : width;
	}
	return width > WIDTH_MAX && column + 1 < shot->columns.count ? WIDTH_MAX : width;
}

static size_t last_shown(const struct view *view)
{
	size_t last = 0;
	for (size_t i = 0; i < view->shot->columns.count; i++)
		last = view_is_hidden(view, i) ? last : i;
	return last;
}

/* Where the columns begin: [column]; SIZE_MAX: hidden. Returns the position after the last. */
struct widths {
	size_t start[VIEW_COLUMNS_MAX], width[VIEW_COLUMNS_MAX];
};

static bool has_children(const struct view *view)
{
	return view->shot->rows.count > view->shot->rows.items[SNAPSHOT_TOP].child_count + 1;
}

static void measure(const struct view *view, struct widths *widths)
{
	size_t at = has_children(view) ? 2 : 0, last = last_shown(view);
	for (size_t i = 0; i < view->shot->columns.count && i < VIEW_COLUMNS_MAX; i++) {
		widths->start[i] = SIZE_MAX;
		if (view_is_hidden(view, i))
			continue;
		widths->start[i] = at;
		widths->width[i] = i == last ? SCREEN_COLUMNS_MAX : column_width(view, i);
		at += widths->width[i] + 2;
	}
}

size_t browser_column_at(const struct browser *browser, size_t column)
{
	struct widths widths;
	const struct view *view = &browser_page(browser)->view;
	measure(view, &widths);
	for (size_t i = 0; i < view->shot->columns.count && i < VIEW_COLUMNS_MAX; i++)
		if (widths.start[i] != SIZE_MAX && column + view->shift >= widths.start[i] &&
		    column + view->shift < widths.start[i] + widths.width[i] + 2)
			return i;
	return SIZE_MAX;
}

static uint8_t share_style(double share)
{
	return share >= 0.05 ? STYLE_HOT : share >= 0.005 ? STYLE_WARM : STYLE_PLAIN;
}

/* The part of a text after `shift` columns, put from `start` - shift on. */
struct line_paint {
	struct screen *screen;
	size_t line, shift;
	uint8_t overlay;             /* STYLE_REVERSE under the cursor */
};

static void put_shifted(const struct line_paint *p, size_t start, size_t end, uint8_t style, const char *text)
{
	if (end <= p->shift)
		return;
	if (start < p->shift) {
		size_t skip = p->shift - start;
		size_t bytes = text_fit(text, skip);
		text += bytes;
		start = p->shift;
	}
	screen_put(p->screen, p->line, start - p->shift, end - p->shift, style | p->overlay, text);
}

/* A name, of which both ends are shown; RIGHT shows its middle. */
static void put_name(const struct line_paint *p, size_t start, size_t end, uint8_t style, const char *name)
{
	if (p->shift)
		put_shifted(p, start, end, style, name);
	else
		screen_put_name(p->screen, p->line, start, end, style | p->overlay, name);
}

static void paint_cell(const struct line_paint *p, const struct view *view, uint32_t row, size_t column, const struct widths *widths)
{
	CLEANUP_STR struct str text = { 0 };
	const struct cell *cell = snapshot_cell(view->shot, row, column);
	uint8_t style = STYLE_PLAIN;
	size_t start = widths->start[column], end = start + widths->width[column];
	view_cell_text(view, row, column, &text);
	if (view_is_source(view, row))
		style = STYLE_DIM;
	if (cell->kind == CELL_SHARE)
		style = share_style(cell_fraction(cell));
	else if (view->search && regexec(&view->search_regex, str_text(&text), 0, NULL, 0) == 0 && !snapshot_is_measure(cell->kind))
		style = STYLE_MATCH;
	size_t width = text_columns(str_text(&text));
	if (cell_is_number(view->shot->columns.items[column].kind) && width < widths->width[column] &&
	    widths->width[column] < SCREEN_COLUMNS_MAX)
		start = end - width;
	bool name = cell->kind == CELL_PLACE || (cell->kind == CELL_TEXT && widths->width[column] < SCREEN_COLUMNS_MAX);
	(name ? put_name : put_shifted)(p, start, end, style, str_text(&text));
}

static const char *sign_of(const struct view *view, uint32_t row)
{
	const struct snapshot_row *at = &view->shot->rows.items[row];
	return !at->child_count ? " " : view_is_expanded(view, row) ? "-" : "+";
}

/* A caller: its sign, its share unless it is the only one, its place. */
static void paint_detail(const struct line_paint *p, const struct browser *browser, const struct view *view, uint32_t row, size_t depth)
{
	CLEANUP_STR struct str text = { 0 };
	const struct snapshot *shot = view->shot;
	size_t place = snapshot_column_of_kind(&shot->details, CELL_PLACE), at = depth * INDENT;
	const struct snapshot_row *row_at = &shot->rows.items[row], *parent = &shot->rows.items[row_at->parent];
	double share = view_share(view, row);
	bool within = parent->detail && parent->child_count == 1 && row_at->child_count == 1 && view_is_expanded(view, row);
	put_shifted(p, at, at + 2, STYLE_PLAIN, within ? " " : sign_of(view, row));
	at += 2;
	if (share >= 0 && (parent->child_count > 1 || !parent->detail)) {
		str_printf(&text, "%.2f%% ", 100 * share);
		put_shifted(p, at, SCREEN_COLUMNS_MAX, share_style(share), str_text(&text));
		at += text_columns(str_text(&text));
		str_clear(&text);
	}
	for (size_t i = 0; i < shot->details.count; i++) {
		const struct cell *cell = snapshot_cell(shot, row, i);
		if (snapshot_is_measure(shot->details.items[i].kind) || cell->kind == CELL_ABSENT)
			continue;
		size_t start = text.len;
		str_puts(&text, start ? "  " : "");
		face_add(cell, &text);
		if (i == place && text.len > start + 4)
			memmove(text.text + start, text.text + start + 4, text.len - start - 3), text.len -= 4;
		if (i == place && browser->modules && cell->place.module) {
			str_puts(&text, "  ");
			face_add(&(struct cell){ .kind = CELL_TEXT, .text = cell->place.module }, &text);
		}
	}
	put_name(p, at, SCREEN_COLUMNS_MAX, view_matches(view, row) ? STYLE_MATCH : STYLE_PLAIN, str_text(&text));
}

static void paint_row(struct line_paint *p, const struct browser *browser, const struct view *view, size_t line,
	const struct widths *widths)
{
	const struct view_line *at = &view->lines.items[line];
	const struct snapshot_row *row = &view->shot->rows.items[at->row];
	p->overlay = line == view->cursor ? STYLE_REVERSE : 0;
	if (p->overlay)
		screen_fill(p->screen, p->line, 0, p->screen->columns, STYLE_PLAIN | STYLE_REVERSE);
	if (row->detail) {
		paint_detail(p, browser, view, at->row, at->depth);
		return;
	}
	if (has_children(view)) {
		size_t indent = at->depth * 2;
		put_shifted(p, indent, indent + 1, STYLE_PLAIN, sign_of(view, at->row));
	}
	if (view_is_marked(view, at->row))
		put_shifted(p, 1, 2, STYLE_MATCH, "*");
	for (size_t i = 0; i < view->shot->columns.count && i < VIEW_COLUMNS_MAX; i++)
		if (widths->start[i] != SIZE_MAX)
			paint_cell(p, view, at->row, i, widths);
}

static void paint_heads(const struct view *view, struct screen *screen, size_t line, const struct widths *widths)
{
	struct line_paint p = { screen, line, view->shift, 0 };
	screen_fill(screen, line, 0, screen->columns, STYLE_TITLE);
	for (size_t i = 0; i < view->shot->columns.count && i < VIEW_COLUMNS_MAX; i++) {
		CLEANUP_STR struct str title = { 0 };
		if (widths->start[i] == SIZE_MAX)
			continue;
		add_head(&view->shot->columns.items[i], &title);
		size_t start = widths->start[i], end = start + widths->width[i], width = text_columns(str_text(&title));
		if (cell_is_number(view->shot->columns.items[i].kind) && width < widths->width[i] &&
		    widths->width[i] < SCREEN_COLUMNS_MAX)
			start = end - width;
		put_shifted(&p, start, end, STYLE_TITLE | (view->sort == (int)i ? STYLE_BOLD | STYLE_REVERSE : 0), str_text(&title));
	}
}

static void paint_scroll_bar(const struct view *view, struct screen *screen, const struct browse_layout *layout)
{
	size_t height = layout->last - layout->first, count = view->lines.count;
	if (count <= height || screen->columns < 30)
		return;
	size_t at = layout->first + view->top * (height - 1) / (count - height);
	screen_put(screen, at, screen->columns - 1, screen->columns, STYLE_DIM, screen->ascii ? "#" : "\xe2\x97\x86");
}

static void paint_table(struct browser *browser, struct browse_page *page, struct screen *screen, const struct browse_layout *layout)
{
	struct view *view = &page->view;
	struct widths widths;
	if (!view->shot)
		return;
	view_resize(view, layout->last - layout->first);
	measure(view, &widths);
	if (layout->heads != SIZE_MAX)
		paint_heads(view, screen, layout->heads, &widths);
	struct line_paint p = { .screen = screen, .shift = view->shift };
	for (size_t i = 0; i < view->height && view->top + i < view->lines.count; i++) {
		p.line = layout->first + i;
		paint_row(&p, browser, view, view->top + i, &widths);
	}
	paint_scroll_bar(view, screen, layout);
	if (!view->lines.count && layout->last > layout->first)
		screen_put(screen, layout->first, 2, screen->columns, STYLE_DIM,
			view->filters.count ? "no row passes the filters (u: undo)" : browser->waiting ? "reading ..." : "no rows");
}

static void add_progress(const struct browser *browser, struct str *out)
{
	const struct feed *feed = browser->source.feed;
	uint64_t done = feed ? atomic_load(&feed->done) : 0, total = feed ? atomic_load(&feed->total) : 0;
	if (!browser->waiting)
		return;
	if (total)
		str_printf(out, "[reading: %u%%] ", (unsigned)((unsigned __int128)done * 100 / total));
	else
		str_puts(out, browser->source.zero ? "[running] " : "[reading] ");
}

/* In seconds from the first sample. */
static void add_range(const struct browser *browser, struct str *out)
{
	const struct browse_range *range = &browser->ranges.items[browser->ranges.count - 1];
	uint64_t first = browser->heat.start_ns;
	str_printf(out, ", only %.3f to %.3f s", range->start_ns > first ? (double)(range->start_ns - first) / 1e9 : 0,
		range->end_ns > first ? (double)(range->end_ns - first) / 1e9 : 0);
}

/* What the page leaves out, what was searched. */
static void add_filters(const struct browser *browser, const struct browse_page *page, struct str *out)
{
	const struct view *view = &page->view;
	bool filtered = page->kind != PAGE_FLAME && view->filters.count;
	if (filtered) {
		str_puts(out, ", only ");
		view_filter_text(view, out);
	}
	if (browser->ranges.count)
		add_range(browser, out);
	if (view->relative && filtered)
		str_puts(out, ", percentages of these");
	if (view->search && page->kind != PAGE_FLAME)
		str_printf(out, ", %zu match /%s/", view->matches, view->search);
	else if (view->search)
		str_printf(out, ", searched: /%s/", view->search);
	if (browser->frozen)
		str_puts(out, ", frozen");
}

/* "Samples: 16K of event 'cycles', Event count (approx.): 1234". */
static void paint_title(const struct browser *browser, const struct browse_page *page, struct screen *screen)
{
	CLEANUP_STR struct str text = { 0 };
	CLEANUP_STR struct str count = { 0 };
	CLEANUP_STR struct str more = { 0 };
	const struct view *view = &page->view;
	add_progress(browser, &text);
	if (page->kind == PAGE_TABLE && view->shot && *view->shot->event && !view->shot->samples) {
		str_printf(&text, "Event '%s'", view->shot->event);
		str_printf(&count, "%s%s", *view->shot->facts ? ", " : "", view->shot->facts);
	} else if (page->kind == PAGE_TABLE && view->shot && *view->shot->event) {
		str_puts(&text, "Samples: ");
		face_add_short(view->shot->samples, &text);
		str_printf(&text, " of event '%s'", view->shot->event);
		str_printf(&count, ", Event count (approx.): %llu", (unsigned long long)view->shot->period);
	} else if (page->kind == PAGE_TABLE && view->shot && view->shot != page->own) {
		str_puts(&text, view->shot->label);
	} else if (page->title) {
		str_puts(&text, page->title);
	} else if (page->kind == PAGE_EVENTS) {
		str_puts(&text, page->own && strcmp(page->own->name, "tables") == 0 ? "Tables" : "Available samples");
	} else if (!browser->waiting) {
		str_puts(&text, "No samples");
	}
	add_filters(browser, page, &more);
	/* the filters matter more than the count */
	if (text_columns(str_text(&text)) + text_columns(str_text(&count)) + text_columns(str_text(&more)) <= screen->columns || !more.len)
		str_puts(&text, str_text(&count));
	str_puts(&text, str_text(&more));
	screen_fill(screen, 0, 0, screen->columns, STYLE_TITLE);
	(page->code ? screen_put_name : screen_put)(screen, 0, 0, screen->columns, STYLE_TITLE | STYLE_BOLD, str_text(&text));
}

/* The keys that matter here, as many as fit; the rest of the line: the tip. */
static void add_keys(const struct browser *browser, const struct browse_page *page, size_t columns, struct str *out)
{
	uint32_t row = page->kind == PAGE_FLAME || !page->view.shot ? UINT32_MAX : view_row(&page->view);
	for (size_t i = 0; i < browse_key_count; i++) {
		const struct key_row *key = &browse_keys[i];
		if (!key->brief || !browser_has_key(browser, key))
			continue;
		if (key->action == ACTION_TOGGLE && (row == UINT32_MAX || !page->view.shot->rows.items[row].child_count))
			continue;
		int first = 1 + (int)strcspn(key->name + 1, " /");
		const char *brief = key->action == ACTION_QUIT && browser->pages.count > 1 ? "back" : key->brief;
		if (out->len && out->len + (size_t)first + strlen(brief) + strlen("  :") > columns)
			continue;
		str_printf(out, "%s%.*s:%s", out->len ? "  " : "", first, key->name, brief);
	}
}

static void paint_bottom(const struct browser *browser, const struct browse_page *page, struct screen *screen)
{
	CLEANUP_STR struct str text = { 0 };
	size_t line = screen->lines - 1, columns = screen->columns;
	uint8_t style = STYLE_KEYS;
	if (screen->lines < 2)
		return;
	if (browser->prompt.label) {
		str_printf(&text, "%s: %s_", browser->prompt.label, str_text(&browser->prompt.text));
		style = STYLE_TITLE | STYLE_BOLD;
	} else if (browser->menu.open) {
		str_puts(&text, "ENTER:choose  ESC:close");
	} else if (*browser->note) {
		str_puts(&text, browser->note);
		style = browser->error_note ? STYLE_ERROR : STYLE_KEYS;
	} else if (page->kind == PAGE_FLAME && page->flame.shot) {
		flame_view_describe(&page->flame, &text);
		str_puts(&text, "   ENTER:zoom  ESC:back  CTRL+F:search  x:export  h:help  q:back");
	} else {
		add_keys(browser, page, columns, &text);
	}
	screen_fill(screen, line, 0, columns, style);
	size_t wide = text_columns(str_text(&text)), skip = browser->prompt.label && wide > columns ? wide - columns : 0;
	size_t end = screen_put(screen, line, 0, columns, style, str_text(&text) + text_fit(str_text(&text), skip));
	bool room = browser->source.tip && end + 4 + text_columns(browser->source.tip) < columns;
	if (room && style == STYLE_KEYS && !*browser->note && !browser->menu.open && page->kind == PAGE_TABLE)
		screen_put(screen, line, end + 3, columns, STYLE_KEYS, browser->source.tip);
}

void browser_paint(struct browser *browser, struct screen *screen)
{
	browser->lines = screen->lines;
	browser->columns = screen->columns;
	screen_clear(screen);
	struct browse_page *page = browser_page(browser);
	struct browse_layout layout = browser_layout(browser);
	paint_title(browser, page, screen);
	if (layout.strip != SIZE_MAX)
		strip_paint(browser, screen, layout.strip);
	if (page->kind != PAGE_FLAME)
		paint_table(browser, page, screen, &layout);
	else if (page->flame.shot)
		flame_view_paint(&page->flame, screen, layout.first, layout.last, page->view.search ? &page->view.search_regex : NULL);
	else
		screen_put(screen, layout.first, 2, screen->columns, STYLE_DIM, browser->waiting ? "reading ..." : "this recording has no stacks");
	paint_bottom(browser, page, screen);
	if (browser->menu.open)
		menu_paint(browser, screen);
}

/* One line as text. */
static void take_line(struct screen *screen, struct str *out)
{
	screen_line_text(screen, 0, out);
	str_putc(out, '\n');
	screen_clear(screen);
}

void browser_page_text(const struct browser *browser, struct str *out)
{
	enum { TEXT_COLUMNS = 400 };
	const struct browse_page *page = browser_page(browser);
	struct screen screen = { .ascii = true };
	struct widths widths;
	struct view view = page->view; /* borrows the lines: all of them are shown, without a cursor */
	view.top = view.shift = 0;
	view.height = view.lines.count;
	view.cursor = SIZE_MAX;
	screen_resize(&screen, 1, TEXT_COLUMNS);
	paint_title(browser, page, &screen);
	take_line(&screen, out);
	measure(&view, &widths);
	if (page->kind != PAGE_LINES || page->code) {
		paint_heads(&view, &screen, 0, &widths);
		take_line(&screen, out);
	}
	struct line_paint p = { .screen = &screen };
	for (size_t i = 0; i < view.lines.count; i++) {
		paint_row(&p, browser, &view, i, &widths);
		take_line(&screen, out);
	}
	screen_fini(&screen);
}
