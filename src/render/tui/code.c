/* Pages of code: which columns they show, jumps, the hottest lines. Columns are known by the names that the annotation gives them. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "render/tui/browser_state.h"
#include "render/tui/face.h"

/* A column, and where several recordings are compared those of the others: "overhead_2". */
static void show_column(struct browse_page *page, const char *name, bool shown)
{
	const struct snapshot_columns *columns = &page->view.shot->columns;
	size_t length = strlen(name);
	for (size_t i = 0; i < columns->count; i++) {
		const char *rest = columns->items[i].name + length;
		bool other = strncmp(columns->items[i].name, name, length) == 0 && rest[0] == '_' && strspn(rest + 1, "0123456789") == strlen(rest + 1);
		if (other || strcmp(columns->items[i].name, name) == 0)
			view_hide(&page->view, i, !shown);
	}
}

static bool is_shown(const struct browse_page *page, const char *name)
{
	size_t column = snapshot_column_named(&page->view.shot->columns, name);
	return column != SIZE_MAX && !view_is_hidden(&page->view, column);
}

/* The one column of counts that the keys t, p and b choose. */
static void show_counts(struct browse_page *page)
{
	static const char *const shares[2][2] = { { "overhead", "sample_share" }, { "global", "global_sample_share" } };
	for (int i = 0; i < 4; i++)
		show_column(page, shares[i / 2][i % 2], !page->code_value && page->code_global == i / 2 && page->code_samples == i % 2);
	show_column(page, "period", page->code_value == 1);
	show_column(page, "samples", page->code_value == 2);
}

static bool has_values(const struct browse_page *page, const char *name)
{
	const struct snapshot *shot = page->view.shot;
	size_t column = snapshot_column_named(&shot->columns, name);
	for (uint32_t row = 1; column != SIZE_MAX && row < shot->rows.count; row++)
		if (snapshot_cell(shot, row, column)->kind != CELL_ABSENT)
			return true;
	return false;
}

static void hide_columns(struct browse_page *page)
{
	static const char *const names[] = { "line_overhead", "cycles_range", "offset", "path", "jump_sources", "target_line", "callee" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		show_column(page, names[i], false);
	show_column(page, "line", has_values(page, "line"));
	show_counts(page);
}

/* Of a row's cell, with what precedes it; nothing if the row has none. */
static void add_cell(const struct view *view, uint32_t row, const char *name, const char *before, struct str *out)
{
	size_t column = snapshot_column_named(&view->shot->columns, name);
	if (column == SIZE_MAX || snapshot_cell(view->shot, row, column)->kind == CELL_ABSENT)
		return;
	str_puts(out, before);
	view_cell_text(view, row, column, out);
}

/* The number of instructions with samples that have the source line of this one. */
static size_t count_line(const struct view *view, uint32_t row)
{
	const struct snapshot *shot = view->shot;
	size_t path = snapshot_column_named(&shot->columns, "path"), share = snapshot_column_named(&shot->columns, "overhead"), count = 0;
	if (path == SIZE_MAX || share == SIZE_MAX || snapshot_cell(shot, row, path)->kind != CELL_TEXT)
		return 0;
	const char *place = snapshot_cell(shot, row, path)->text;
	for (uint32_t i = 1; i < shot->rows.count; i++) {
		const struct cell *cell = snapshot_cell(shot, i, path);
		count += cell->kind == CELL_TEXT && strcmp(cell->text, place) == 0 && snapshot_cell(shot, i, share)->kind != CELL_ABSENT;
	}
	return count;
}

/* "hottest: 43.00%, a.c:7 (4 instructions), 12.00% at 0x401108"; "": the function itself has no samples. */
static void add_hottest(const struct view *view, uint32_t row, struct str *out)
{
	size_t share = snapshot_column_named(&view->shot->columns, "overhead"), instructions = count_line(view, row);
	if (share == SIZE_MAX || snapshot_cell(view->shot, row, share)->kind == CELL_ABSENT)
		return; /* its callees have all samples */
	add_cell(view, row, instructions > 1 ? "line_overhead" : "overhead", "hottest: ", out);
	add_cell(view, row, "line", ", ", out);
	if (instructions > 1) {
		str_printf(out, " (%zu instructions)", instructions);
		add_cell(view, row, "overhead", ", ", out);
	}
	add_cell(view, row, "address", instructions > 1 ? " at " : ", ", out);
}

/* Rows without an address are source lines, or "name():" before inlined code. */
static bool has_source(const struct browse_page *page)
{
	const struct snapshot *shot = page->view.shot;
	size_t code = snapshot_column_named(&shot->columns, "code");
	for (uint32_t row = 1; code != SIZE_MAX && row < shot->rows.count; row++) {
		const struct cell *cell = snapshot_cell(shot, row, code);
		size_t length = cell->kind == CELL_TEXT ? strlen(cell->text) : 0;
		if (view_is_source(&page->view, row) && length && (length < 3 || strcmp(cell->text + length - 3, "():") != 0))
			return true;
	}
	return false;
}

/* Code without a source is often a library's: its callers are what a user can change. */
static void note_hottest(struct browser *browser, const struct str *text)
{
	const struct browse_page *page = browser_page(browser);
	if (text->len && page->callers && !has_source(page))
		browser_note(browser, "%s   (no source is known, s: why; +: callers, ESC: back)", str_text(text));
	else if (text->len)
		browser_note(browser, "%s   (ESC: back, h: help)", str_text(text));
	else
		browser_note(browser, "no sample is in this function itself (ESC: back, then ^: the hottest row)");
	browser->hot_note = true;
}

/* To the hottest line of code; the bottom line names it. */
void code_note_hottest(struct browser *browser)
{
	struct view *view = &browser_page(browser)->view;
	CLEANUP_STR struct str text = { 0 };
	view_hottest(view);
	if (view_row(view) != UINT32_MAX)
		add_hottest(view, view_row(view), &text);
	note_hottest(browser, &text);
}

void code_renew_note(struct browser *browser)
{
	const struct view *view = &browser_page(browser)->view;
	CLEANUP_STR struct str text = { 0 };
	size_t line = view_hottest_line(view);
	if (line != SIZE_MAX)
		add_hottest(view, view->lines.items[line].row, &text);
	note_hottest(browser, &text);
}

bool code_is_newer(const struct browse_page *page, const struct snapshot *lines)
{
	return strcmp(page->own->facts, lines->facts) == 0 && strcmp(page->own->event, lines->event) == 0 &&
		page->own->columns.count == lines->columns.count;
}

static void add_title(const struct view *view, uint32_t row, struct str *title)
{
	const struct snapshot_columns *columns = snapshot_columns_of(view->shot, row);
	size_t place = snapshot_column_of_kind(columns, CELL_PLACE);
	if (place != SIZE_MAX)
		face_add(snapshot_cell(view->shot, row, place), title);
}

void code_open(struct browser *browser)
{
	struct view *view = &browser_page(browser)->view;
	struct error err = { 0 };
	CLEANUP_STR struct str title = { 0 };
	uint32_t row = view_row(view);
	if (row == UINT32_MAX)
		return;
	if (!browser->source.annotate) {
		browser_note(browser, "this result has no functions whose code could be shown");
		return;
	}
	struct snapshot *lines = browser->source.annotate(browser->source.context, view->shot, row, &err);
	if (!lines) {
		browser_error(browser, &err);
		return;
	}
	add_title(view, row, &title);
	struct snapshot *function = code_function(view->shot, row);
	bool callers = view->shot->rows.items[row].child_count || view->shot->rows.items[row].detail;
	struct browse_page *page = browser_push(browser, PAGE_LINES, str_text(&title) + (title.len > 4 ? 4 : 0));
	page->function = function;
	page->callers = callers || browser->pages.items[browser->pages.count - 2]->callers;
	page->own = lines;
	page->code = true;
	view_adopt(&page->view, lines);
	hide_columns(page);
	if (browser->source.feed)
		atomic_store(&browser->source.feed->shows_code, true);
	view_resize(&page->view, browser->lines > 4 ? browser->lines - 3 : 1);
	if (err.kind != ERROR_NONE)
		browser_error(browser, &err);
	else
		code_note_hottest(browser);
	view_center(&page->view);
}

/* The columns of newer lines can be others: of arrows, of cycles. */
void code_again(struct browser *browser, struct browse_page *page)
{
	struct error err = { 0 };
	struct snapshot *old = page->own;
	if (!page->function)
		return;
	struct snapshot *lines = browser->source.annotate(browser->source.context, page->function, 1, &err);
	if (!lines) {
		browser_error(browser, &err);
		return;
	}
	bool same = lines->columns.count == old->columns.count;
	page->own = lines;
	view_adopt(&page->view, lines);
	snapshot_free(old);
	if (!same)
		hide_columns(page);
}

static size_t one_row(void *context, uint64_t parent)
{
	return parent == TABLE_TOP;
}

static struct cell that_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	return *(const struct cell *)context;
}

struct snapshot *code_function(const struct snapshot *shot, uint32_t row)
{
	static const struct table_column column = { "function", "Function", NULL, CELL_PLACE };
	size_t place = snapshot_column_of_kind(snapshot_columns_of(shot, row), CELL_PLACE);
	if (place == SIZE_MAX || snapshot_cell(shot, row, place)->kind != CELL_PLACE)
		return NULL;
	struct cell cell = *snapshot_cell(shot, row, place);
	const struct table_fact fact = { "event", cell_text(shot->event) };
	const struct table table = { .name = "function", .facts = &fact, .fact_count = 1, .columns = &column, .column_count = 1,
		.context = &cell, .row_count = one_row, .row = table_row_in_order, .cell = that_cell };
	return snapshot_new(&table, 0);
}

const char *code_function_name(const struct snapshot *function)
{
	return snapshot_cell(function, 1, 0)->place.symbol;
}

/* The row of a function in the order shown; SIZE_MAX: none. */
static size_t line_of(const struct view *view, const char *name)
{
	for (size_t i = 0; name && i < view->lines.count; i++) {
		uint32_t row = view->lines.items[i].row;
		size_t place = snapshot_column_of_kind(&view->shot->columns, CELL_PLACE);
		const struct cell *cell = view->shot->rows.items[row].detail || place == SIZE_MAX ? NULL : snapshot_cell(view->shot, row, place);
		if (cell && cell->kind == CELL_PLACE && cell->place.symbol && strcmp(cell->place.symbol, name) == 0)
			return i;
	}
	return SIZE_MAX;
}

/* Callers, or callees: something besides the function itself. */
static bool has_callers(const struct snapshot *shot, uint32_t row)
{
	const struct snapshot_row *at = &shot->rows.items[row];
	return at->child_count > 1 || shot->rows.items[at->first_child].child_count;
}

static bool is_function(const struct snapshot *shot, uint32_t row, size_t place, const char *name)
{
	const struct cell *cell = snapshot_cell(shot, row, place);
	return cell->kind == CELL_PLACE && cell->place.symbol && strcmp(cell->place.symbol, name) == 0;
}

/* Of the heaviest chain of callers below a row, the nearest caller that is not inlined. UINT32_MAX: the chains are of callees alone.
 * A chain begins with the function or its caller; of shares with callees, with the outermost caller, and the function is its end. */
static uint32_t heaviest_caller(const struct snapshot *shot, uint32_t row, const char *name)
{
	uint32_t at = shot->rows.items[row].first_child, end = at + shot->rows.items[row].child_count, nearest = UINT32_MAX;
	size_t place = snapshot_column_of_kind(&shot->details, CELL_PLACE);
	bool outermost_first = snapshot_column_named(&shot->columns, "overhead_children") != SIZE_MAX;
	while (place != SIZE_MAX && outermost_first && at < end && is_function(shot, at, place, name))
		at++;
	if (place == SIZE_MAX || at == end)
		return UINT32_MAX;
	for (;; at = shot->rows.items[at].first_child) {
		const struct cell *cell = snapshot_cell(shot, at, place);
		bool usable = cell->kind == CELL_PLACE && !cell->place.inlined && !is_function(shot, at, place, name);
		if (usable && (outermost_first || nearest == UINT32_MAX))
			nearest = at;
		if (!shot->rows.items[at].child_count)
			return outermost_first && !is_function(shot, at, place, name) ? UINT32_MAX : nearest;
	}
}

static void move_to_caller(struct browser *browser, struct view *view, uint32_t row, const char *name)
{
	uint32_t caller = heaviest_caller(view->shot, row, name);
	if (caller == UINT32_MAX) {
		browser_note(browser, "the rows below are its callees; report --no-children, or g, shows its callers");
		return;
	}
	view_reveal(view, caller);
	browser_note(browser, "the caller with the most samples; a shows its code");
}

/* Back to the row of the function, with its callers open. */
static void show_callers(struct browser *browser)
{
	const struct snapshot *function = browser_page(browser)->function;
	const char *symbol = function ? code_function_name(function) : NULL;
	char *name = symbol ? memory_string(symbol) : NULL;
	while (browser->pages.count > 1 && browser_page(browser)->kind != PAGE_TABLE)
		browser_pop(browser);
	struct view *view = &browser_page(browser)->view;
	uint32_t row = view_row(view);
	bool within = row != UINT32_MAX && view->shot->rows.items[row].detail; /* the cursor is on one of the callers */
	size_t line = within ? SIZE_MAX : line_of(view, name);
	if (line != SIZE_MAX)
		view_move_to(view, line);
	row = view_row(view);
	if (row != UINT32_MAX && !within && view->shot->rows.items[row].child_count && !view_is_expanded(view, row))
		view_toggle(view);
	if (row == UINT32_MAX || (!within && !view->shot->rows.items[row].child_count))
		browser_note(browser, "no callers are known: perfuse record -g records them, perfuse report shows them");
	else if (!within && !has_callers(view->shot, row))
		browser_note(browser, "its callers were not found by frame pointers: perfuse record --call-graph unwind");
	else if (within || !name)
		browser_note(browser, "move to a caller; a shows its code");
	else
		move_to_caller(browser, view, row, name);
	free(name);
}

/* To the target of the jump under the cursor, or into the function that is called. */
void code_follow(struct browser *browser)
{
	struct view *view = &browser_page(browser)->view;
	uint32_t row = view_row(view);
	size_t column = snapshot_column_named(&view->shot->columns, "target_line");
	const struct cell *cell = row == UINT32_MAX || column == SIZE_MAX ? NULL : snapshot_cell(view->shot, row, column);
	size_t callee = snapshot_column_named(&view->shot->columns, "callee");
	if (cell && cell->kind != CELL_COUNT && callee != SIZE_MAX && snapshot_cell(view->shot, row, callee)->kind == CELL_PLACE) {
		code_open(browser);
		return;
	}
	if (!cell || cell->kind != CELL_COUNT) {
		browser_note(browser, "this line has no jump with a known target");
		return;
	}
	for (size_t i = 0; i < view->lines.count; i++)
		if (view->lines.items[i].row == cell->count + 1)
			view_move_to(view, i);
}

static void toggle(struct browse_page *page, const char *name)
{
	show_column(page, name, !is_shown(page, name));
}

static void toggle_source(struct browser *browser)
{
	struct browse_page *page = browser_page(browser);
	struct view *view = &page->view;
	bool hidden = view->required != VIEW_NO_COLUMN;
	if (!has_source(page)) {
		browser_note(browser, "no source: %s", has_values(page, "line") ? "the files that Source:Line names are not here" :
			"compile with -g, or install the debug package");
		return;
	}
	view_require(view, hidden ? VIEW_NO_COLUMN : snapshot_column_named(&view->shot->columns, "address"));
	browser_note(browser, "source lines are %s", hidden ? "shown" : "not shown");
}

static void change_counts(struct browser *browser, int action)
{
	static const char *const values[] = { "percentages", "periods", "numbers of samples" };
	struct browse_page *page = browser_page(browser);
	page->code_value = action == ACTION_CODE_VALUE ? (page->code_value + 1) % 3 : 0;
	page->code_global ^= action == ACTION_CODE_GLOBAL;
	page->code_samples ^= action == ACTION_CODE_BASE;
	show_counts(page);
	if (page->code_value)
		browser_note(browser, "%s", values[page->code_value]);
	else
		browser_note(browser, "percentages of the %s of %s", page->code_samples ? "samples" : "periods",
			page->code_global ? "all functions" : "this function");
}

static void toggle_range(struct browser *browser)
{
	struct browse_page *page = browser_page(browser);
	if (snapshot_column_named(&page->view.shot->columns, "cycles_range") == SIZE_MAX)
		browser_note(browser, "the recording has no branches of this function, which would show cycles (record -b)");
	else
		toggle(page, "cycles_range");
}

bool code_act(struct browser *browser, int action)
{
	struct browse_page *page = browser_page(browser);
	switch (action) {
	case ACTION_HOT_NEXT:
	case ACTION_HOT_PREVIOUS:
		view_hot_next(&page->view, action == ACTION_HOT_NEXT ? 1 : -1);
		return true;
	case ACTION_CALLERS:
		show_callers(browser);
		return true;
	case ACTION_CODE_SOURCE:
		toggle_source(browser);
		return true;
	case ACTION_CODE_VALUE:
	case ACTION_CODE_GLOBAL:
	case ACTION_CODE_BASE:
		change_counts(browser, action);
		return true;
	case ACTION_CODE_ARROWS:
		toggle(page, "arrows");
		return true;
	case ACTION_CODE_JUMPS:
		toggle(page, "jump_sources");
		return true;
	case ACTION_CODE_LINES:
		toggle(page, "line");
		return true;
	case ACTION_CODE_PATHS:
		toggle(page, "path");
		show_column(page, "line", !is_shown(page, "path"));
		return true;
	case ACTION_CODE_OFFSETS:
		toggle(page, "offset");
		show_column(page, "address", !is_shown(page, "offset"));
		return true;
	case ACTION_CODE_RANGE:
		toggle_range(browser);
		return true;
	default:
		return false;
	}
}
