/* What keys do. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "render/tui/browser_state.h"
#include "render/tui/face.h"

static struct view *view_of(struct browser *browser)
{
	return &browser_page(browser)->view;
}

static void zoom_equal(struct browser *browser, const char *column, const char *text)
{
	struct view *view = view_of(browser);
	if (view_filter_equal(view, column, text))
		vec_push(&browser->undo, UNDO_FILTER);
}

/* Zooms into the text that a row has in one of these columns. */
static void zoom(struct browser *browser, const char *const *columns, const char *what)
{
	struct view *view = view_of(browser);
	uint32_t row = view_row(view);
	CLEANUP_STR struct str text = { 0 };
	if (row == UINT32_MAX)
		return;
	row = snapshot_entry(view->shot, row);
	for (; *columns; columns++) {
		size_t column = snapshot_column_named(&view->shot->columns, *columns);
		if (column == SIZE_MAX || snapshot_cell(view->shot, row, column)->kind == CELL_ABSENT)
			continue;
		face_add(snapshot_cell(view->shot, row, column), &text);
		zoom_equal(browser, *columns, str_text(&text));
		return;
	}
	if (browser->source.read)
		browser_note(browser, "no column shows the %s: perfuse report -s +%s", what, columns[-1]);
	else
		browser_note(browser, "no column shows the %s", what);
}

static void zoom_kernel(struct browser *browser)
{
	const struct snapshot *shot = view_of(browser)->shot;
	size_t place = snapshot_column_of_kind(&shot->columns, CELL_PLACE), dso = snapshot_column_named(&shot->columns, "dso");
	for (uint32_t row = 1; place != SIZE_MAX && dso != SIZE_MAX && row < shot->rows.count; row++) {
		CLEANUP_STR struct str text = { 0 };
		if (shot->rows.items[row].detail || snapshot_cell(shot, row, place)->place.level != 'k')
			continue;
		face_add(snapshot_cell(shot, row, dso), &text);
		zoom_equal(browser, "dso", str_text(&text));
		return;
	}
	browser_note(browser, "no row is of the kernel");
}

/* The effect of Esc on a page without filters. */
static void leave_page(struct browser *browser)
{
	struct browse_page *page = browser_page(browser);
	if (page->kind == PAGE_FLAME && page->flame.shot && flame_view_zoom_out(&page->flame))
		return;
	if (browser->pages.count > 1)
		browser_pop(browser);
	else
		browser_note(browser, "q quits");
}

static bool undo(struct browser *browser)
{
	struct view *view = view_of(browser);
	bool time = browser->ranges.count && (!view->filters.count ||
		(browser->undo.count && browser->undo.items[browser->undo.count - 1] == UNDO_RANGE));
	if (time || view->filters.count)
		browser_forget(browser, time ? UNDO_RANGE : UNDO_FILTER, 1);
	if (!time)
		return view_filter_undo(view);
	browser->ranges.count--;
	browser_read(browser);
	return true;
}

static void go_back(struct browser *browser)
{
	struct view *view = view_of(browser);
	if (view->search) {
		view_search(view, "", NULL);
		return;
	}
	if (!view->filters.count && (browser->pages.count > 1 || !browser->ranges.count)) {
		leave_page(browser);
		return;
	}
	undo(browser);
	view_center(view);
}

/* That of a page of code, or of the row under the cursor; NULL: none. */
static struct snapshot *function_of(const struct browse_page *page)
{
	uint32_t row = page->view.shot ? view_row(&page->view) : UINT32_MAX;
	if (page->function)
		return code_function(page->function, 1);
	return row != UINT32_MAX ? code_function(page->view.shot, row) : NULL;
}

static void show_flame(struct browser *browser)
{
	const struct view *view = view_of(browser);
	const char *event = view->shot ? view->shot->event : "";
	if (!browser_has_action(browser, ACTION_FLAME)) {
		browser_note(browser, "this result has no flame graph");
		return;
	}
	bool known = browser->flame_event && strcmp(browser->flame_event, event) == 0 && browser->shot && browser->shot->flame;
	struct snapshot *function = function_of(browser_page(browser));
	struct browse_page *page = browser_push(browser, PAGE_FLAME, "Flame graph");
	page->function = function;
	if (known) {
		browser_adopt_page(browser, page);
		return;
	}
	free(browser->flame_event);
	browser->flame_event = memory_string(event);
	if (browser->source.read)
		browser_read(browser);
	else
		browser->source.flame(browser->source.context, event);
}

static void enter(struct browser *browser)
{
	struct browse_page *page = browser_page(browser);
	uint32_t row = page->kind == PAGE_FLAME ? UINT32_MAX : view_row(&page->view);
	if (page->kind == PAGE_FLAME && page->flame.shot) {
		flame_view_zoom(&page->flame);
	} else if (page->kind == PAGE_EVENTS && row != UINT32_MAX) {
		struct browse_page *table = browser_push(browser, PAGE_TABLE, snapshot_cell(page->own, row, 1)->text);
		browser_adopt_page(browser, table);
	} else if (page->kind == PAGE_TABLE) {
		menu_of_row(browser);
	} else if (page->code) {
		code_follow(browser);
	} else if (page->help && row != UINT32_MAX) {
		browser_pop(browser);
		browser_act(browser, browser_help_action(browser, row - 1), "0", NULL);
	}
}

static void switch_event(struct browser *browser, int step)
{
	struct browse_page *page = browser_page(browser);
	const struct feed_shot *shot = browser->shot;
	size_t count = shot ? shot->table_count : 0;
	for (size_t i = 0; count > 1 && i < count; i++) {
		if (shot->tables[i] != page->view.shot)
			continue;
		size_t next = (i + (step > 0 ? 1 : count - 1)) % count;
		free(page->title);
		page->title = memory_string(shot->tables[next]->label);
		browser_forget(browser, UNDO_FILTER, page->view.filters.count);
		view_fini(&page->view);
		view_init(&page->view);
		browser_adopt_page(browser, page);
		return;
	}
}

static void move(struct browser *browser, int action)
{
	struct browse_page *page = browser_page(browser);
	struct view *view = &page->view;
	long screen = (long)view->height - 1;
	if (page->kind == PAGE_FLAME) {
		if (!page->flame.shot)
			return;
		if (action == ACTION_UP || action == ACTION_PAGE_UP)
			flame_view_up(&page->flame);
		else if (action == ACTION_DOWN || action == ACTION_PAGE_DOWN)
			flame_view_down(&page->flame);
		else if (action == ACTION_LEFT || action == ACTION_RIGHT)
			flame_view_side(&page->flame, action == ACTION_LEFT ? -1 : 1);
		else if (action == ACTION_HOME)
			page->flame.cursor = page->flame.root;
		return;
	}
	if (!view->shot)
		return;
	if (action == ACTION_UP || action == ACTION_DOWN)
		view_move(view, action == ACTION_UP ? -1 : 1);
	else if (action == ACTION_PAGE_UP || action == ACTION_PAGE_DOWN)
		view_move(view, action == ACTION_PAGE_UP ? -(screen > 0 ? screen : 1) : screen > 0 ? screen : 1);
	else if (action == ACTION_HOME || action == ACTION_END)
		view_move_to(view, action == ACTION_HOME || !view->lines.count ? 0 : view->lines.count - 1);
	else if (action == ACTION_LEFT)
		view->shift -= view->shift < 8 ? view->shift : 8;
	else if (view->shift < 1000)
		view->shift += 8;
}

static void take_filter(struct browser *browser, const char *text)
{
	struct error err = { 0 };
	struct view *view = view_of(browser);
	if (!*text)
		return;
	if (view_filter_match(view, text, &err) < 0)
		browser_error(browser, &err);
	else
		vec_push(&browser->undo, UNDO_FILTER);
}

static void take_limit(struct browser *browser, const char *text)
{
	char *end;
	double percent = strtod(text, &end);
	if (end == text || (*end && strcmp(end, "%") != 0) || !isfinite(percent) || percent < 0 || percent > 100) {
		browser_note(browser, "a percentage is a number from 0 to 100");
		browser->error_note = true;
		return;
	}
	view_filter_share(view_of(browser), percent);
	vec_push(&browser->undo, UNDO_FILTER);
}

static bool find_next(struct browser *browser, int step)
{
	struct browse_page *page = browser_page(browser);
	if (page->kind == PAGE_FLAME)
		return flame_view_find(&page->flame, &page->view.search_regex, step);
	return page->view.shot && view_search_next(&page->view, step);
}

static void take_search(struct browser *browser, const char *text, int step)
{
	struct error err = { 0 };
	struct view *view = view_of(browser);
	if (view_search(view, text, &err) < 0)
		browser_error(browser, &err);
	else if (view->search && !find_next(browser, step))
		browser_note(browser, "nothing matches '%s'", text);
}

static void export_as(struct browser *browser, const char *format)
{
	static const char *const names[BROWSE_FORMATS] = { "text", "json", "csv", "svg", "folded" };
	for (int i = 0; i < BROWSE_FORMATS; i++)
		if (strcmp(format, names[i]) == 0)
			browser_save(browser, (enum browse_format)i);
}

static void show_header(struct browser *browser)
{
	CLEANUP_STR struct str text = { 0 };
	if (browser->source.header)
		browser->source.header(browser->source.context, &text);
	if (text.len)
		browser_push_text(browser, browser->source.read ? "Header of the recording (ESC: back)" : "About these tables (ESC: back)",
			str_text(&text));
	else
		browser_note(browser, "there is no header");
}

/* The text in lines that fit, and an empty line; nothing of nothing. */
static void wrap_text(const char *text, size_t columns, struct str *out)
{
	while (*text) {
		size_t fit = text_fit(text, columns > 20 ? columns - 1 : 20), cut = fit;
		while (text[fit] && cut && text[cut] != ' ')
			cut--;
		str_add(out, text, cut ? cut : fit ? fit : 1);
		str_putc(out, '\n');
		text += cut ? cut : fit ? fit : 1;
		text += strspn(text, " ");
	}
	if (out->len)
		str_putc(out, '\n');
}

static void show_messages(struct browser *browser)
{
	CLEANUP_STR struct str text = { 0 };
	wrap_text(str_text(&browser->last_error), browser->columns, &text);
	if (browser->source.messages)
		browser->source.messages(browser->source.context, &text);
	if (text.len)
		browser_push_text(browser, "Messages (ESC: back)", str_text(&text));
	else
		browser_note(browser, "there are no messages");
}

static void show_help(struct browser *browser)
{
	CLEANUP_STR struct str text = { 0 };
	if (browser_page(browser)->help)
		return;
	browser_help_text(browser, &text);
	browser_push_text(browser, "Help: keys of this page (ENTER: press the key, ESC: back)", str_text(&text));
	browser_page(browser)->help = true;
}

static void show_script(struct browser *browser, const char *comm)
{
	CLEANUP_STR struct str text = { 0 };
	struct error err = { 0 };
	if (browser->source.script && browser->source.script(browser->source.context, comm, &text, &err) < 0)
		browser_error(browser, &err);
	else
		browser_push_text(browser, comm ? comm : "All samples", str_text(&text));
}

static void open_file(struct browser *browser, const char *path)
{
	struct error err = { 0 };
	if (!browser->source.open || browser->source.open(browser->source.context, path, &err) < 0) {
		browser_error(browser, &err);
		return;
	}
	browser->quit = true;
}

static void group_sort(struct browser *browser, size_t member)
{
	struct view *view = view_of(browser);
	for (size_t i = 0; i < view->shot->columns.count; i++)
		if (view->shot->columns.items[i].kind == CELL_SHARE && !member--) {
			view_sort(view, (int)i);
			return;
		}
}

static void tree_action(struct browser *browser, int action)
{
	struct view *view = view_of(browser);
	switch (action) {
	case ACTION_TOGGLE:
		if (!view_toggle(view))
			browser_note(browser, "this row has no rows below it (callers: record with --call-graph)");
		break;
	case ACTION_ENTRY_OPEN:
	case ACTION_ENTRY_CLOSE:
		view_expand_entry(view, action == ACTION_ENTRY_OPEN);
		break;
	default:
		view_expand_all(view, action == ACTION_ALL_OPEN);
		break;
	}
}

static void column_action(struct browser *browser, int action, const char *argument)
{
	struct view *view = view_of(browser);
	int column = argument ? atoi(argument) : VIEW_NO_SORT;
	if (action == ACTION_SORT)
		view_sort(view, column);
	else if (action == ACTION_COLUMN_HIDE && column >= 0)
		view_hide(view, (size_t)column, !view_is_hidden(view, (size_t)column));
	else if (action == ACTION_REVERSE)
		view_sort(view, view->sort);
	else
		view_sort_next(view, action == ACTION_SORT_NEXT ? 1 : -1);
}

static void toggle_strip(struct browser *browser)
{
	if (!browser_has_action(browser, ACTION_TIME) && strip_is_empty(browser)) {
		browser_note(browser, "this result has no time strip; --time chooses a range");
		return;
	}
	browser->strip.shown = browser->strip.active = true;
	if (browser_layout(browser).strip == SIZE_MAX)
		browser_note(browser, "the time strip needs a screen of 8 lines");
}

/* Actions on filters and marks. */
static bool act_filter(struct browser *browser, int action, const char *argument, const char *column)
{
	static const char *const dso[] = { "dso", NULL }, *const thread[] = { "thread", "comm", NULL }, *const socket[] = { "socket", NULL };
	struct view *view = view_of(browser);
	switch (action) {
	case ACTION_DSO:
		zoom(browser, dso, "shared object");
		return true;
	case ACTION_THREAD:
		zoom(browser, thread, "thread");
		return true;
	case ACTION_SOCKET:
		zoom(browser, socket, "socket");
		return true;
	case ACTION_KERNEL:
		zoom_kernel(browser);
		return true;
	case ACTION_FILTER_EQUAL:
		zoom_equal(browser, column, argument);
		return true;
	case ACTION_FILTER:
		prompt_open(browser, ACTION_FILTER_TAKE, "Filter: only rows that match", "");
		return true;
	case ACTION_FILTER_TAKE:
		take_filter(browser, argument);
		return true;
	case ACTION_LIMIT:
		prompt_open(browser, ACTION_LIMIT_TAKE, "Filter: only rows with at least this percentage", "");
		return true;
	case ACTION_LIMIT_TAKE:
		take_limit(browser, argument);
		return true;
	case ACTION_UNDO:
		if (!undo(browser))
			browser_note(browser, "there is no filter to undo");
		return true;
	case ACTION_RELATIVE:
		view_relative(view, !view->relative);
		browser_note(browser, "percentages of %s", view->relative ? "the samples that pass the filters" : "all samples");
		return true;
	case ACTION_MARK:
		view_mark(view);
		view_move(view, 1);
		return true;
	case ACTION_MARKED:
		view_filter_marked(view);
		vec_push(&browser->undo, UNDO_FILTER);
		return true;
	default:
		return false;
	}
}

/* Actions that open something. */
static bool act_open(struct browser *browser, int action, const char *argument)
{
	switch (action) {
	case ACTION_HELP:
		show_help(browser);
		return true;
	case ACTION_ENTER:
		enter(browser);
		return true;
	case ACTION_MENU:
		menu_of_row(browser);
		return true;
	case ACTION_ANNOTATE:
		code_open(browser);
		return true;
	case ACTION_FLAME:
		show_flame(browser);
		return true;
	case ACTION_TIME:
		toggle_strip(browser);
		return true;
	case ACTION_COLUMNS:
		menu_of_columns(browser);
		return true;
	case ACTION_EXPORT:
		menu_of_export(browser);
		return true;
	case ACTION_EXPORT_TAKE:
		export_as(browser, argument);
		return true;
	case ACTION_PRINT:
		browser_save(browser, BROWSE_TEXT);
		return true;
	case ACTION_FILES:
		menu_of_files(browser);
		return true;
	case ACTION_OPEN:
		open_file(browser, argument);
		return true;
	case ACTION_SCRIPTS:
		menu_of_scripts(browser);
		return true;
	case ACTION_SCRIPT:
		show_script(browser, argument);
		return true;
	case ACTION_HEADER:
		show_header(browser);
		return true;
	case ACTION_MESSAGES:
		show_messages(browser);
		return true;
	default:
		return false;
	}
}

static bool act_search(struct browser *browser, int action, const char *argument)
{
	struct view *view = view_of(browser);
	switch (action) {
	case ACTION_SEARCH:
		prompt_open(browser, ACTION_SEARCH_TAKE, "Search for", view->search ? view->search : "");
		return true;
	case ACTION_SEARCH_BACK:
		prompt_open(browser, ACTION_SEARCH_BACK_TAKE, "Search backwards for", view->search ? view->search : "");
		return true;
	case ACTION_SEARCH_TAKE:
	case ACTION_SEARCH_BACK_TAKE:
		take_search(browser, argument, action == ACTION_SEARCH_TAKE ? 1 : -1);
		return true;
	case ACTION_NEXT_MATCH:
	case ACTION_PREVIOUS_MATCH:
		if (!view->search)
			browser_note(browser, "CTRL+F searches first");
		else
			find_next(browser, action == ACTION_NEXT_MATCH ? 1 : -1);
		return true;
	default:
		return false;
	}
}

static void act_rest(struct browser *browser, int action)
{
	struct view *view = view_of(browser);
	if (action == ACTION_HEADS) {
		browser->no_heads = !browser->no_heads;
	} else if (action == ACTION_HOTTEST && browser_page(browser)->code) {
		code_note_hottest(browser);
	} else if (action == ACTION_HOTTEST) {
		view_hottest(view);
	} else if (action == ACTION_MODULES) {
		browser->modules = !browser->modules;
		browser_note(browser, "shared objects of callers are %s", browser->modules ? "shown" : "not shown");
	} else if (action == ACTION_FREEZE) {
		browser->frozen = !browser->frozen;
	} else if (action == ACTION_ZERO && browser->source.zero) {
		browser->source.zero(browser->source.context);
	} else if (action == ACTION_ZERO) {
		browser_note(browser, "this result does not change: there is nothing to set to zero");
	} else if (action == ACTION_NEXT_EVENT || action == ACTION_PREVIOUS_EVENT) {
		switch_event(browser, action == ACTION_NEXT_EVENT ? 1 : -1);
	}
}

/* The note on work that may take long; NULL: the action takes no time. */
static const char *work_note(int action)
{
	switch (action) {
	case ACTION_ANNOTATE:
		return "reading the code ...";
	case ACTION_SCRIPT:
		return "reading the samples ...";
	case ACTION_EXPORT_TAKE:
	case ACTION_PRINT:
		return "writing ...";
	default:
		return NULL;
	}
}

static void do_action(struct browser *browser, int action, const char *argument, const char *column);

bool browser_work(struct browser *browser)
{
	int action = browser->work.action;
	char *argument = browser->work.argument;
	if (!action)
		return false;
	browser->work.action = ACTION_NONE;
	browser->work.argument = NULL;
	browser->note[0] = '\0';
	do_action(browser, action, argument, NULL);
	free(argument);
	return true;
}

void browser_act(struct browser *browser, int action, const char *argument, const char *column)
{
	const char *note = work_note(action);
	if (!note) {
		do_action(browser, action, argument, column);
		return;
	}
	browser_work(browser);
	browser->work.action = action;
	browser->work.argument = argument ? memory_string(argument) : NULL;
	browser_note(browser, "%s", note);
}

static void do_action(struct browser *browser, int action, const char *argument, const char *column)
{
	bool ready = browser_page(browser)->view.shot || browser_page(browser)->kind == PAGE_FLAME;
	if (action == ACTION_QUIT)
		browser_pop(browser);
	else if (action == ACTION_BACK)
		go_back(browser);
	else if (action >= ACTION_UP && action <= ACTION_END)
		move(browser, action);
	else if (!ready && action != ACTION_HELP)
		browser_note(browser, "the recording is being read");
	else if (action >= ACTION_TOGGLE && action <= ACTION_ALL_CLOSE)
		tree_action(browser, action);
	else if (action == ACTION_SORT || action == ACTION_COLUMN_HIDE || action == ACTION_REVERSE || action == ACTION_SORT_NEXT ||
		 action == ACTION_SORT_PREVIOUS)
		column_action(browser, action, argument);
	else if (action == ACTION_GROUP_SORT)
		group_sort(browser, (size_t)*argument - '0');
	else if (!act_filter(browser, action, argument, column) && !act_open(browser, action, argument) &&
		 !act_search(browser, action, argument) && !code_act(browser, action))
		act_rest(browser, action);
}

/* Clicks on the strip, the heads, the rows. */
static void mouse(struct browser *browser, const struct browse_event *event)
{
	struct browse_page *page = browser_page(browser);
	struct browse_layout layout = browser_layout(browser);
	if (event->key == BROWSE_KEY_WHEEL_UP || event->key == BROWSE_KEY_WHEEL_DOWN) {
		for (int i = 0; i < (page->kind == PAGE_FLAME ? 1 : 3); i++)
			move(browser, event->key == BROWSE_KEY_WHEEL_UP ? ACTION_UP : ACTION_DOWN);
		return;
	}
	if (layout.strip != SIZE_MAX && (event->line == layout.strip || (browser->strip.mark != SIZE_MAX && event->key == BROWSE_KEY_RELEASE))) {
		strip_mouse(browser, event);
		return;
	}
	if (event->key == BROWSE_KEY_RELEASE)
		return;
	if (event->line == layout.heads && page->view.shot) {
		size_t column = browser_column_at(browser, event->column);
		if (column != SIZE_MAX)
			view_sort(&page->view, (int)column);
	} else if (event->line >= layout.first && event->line < layout.last) {
		size_t line = event->line - layout.first;
		bool hit = page->kind == PAGE_FLAME ? page->flame.shot && flame_view_click(&page->flame, line, event->column, browser->columns)
						    : page->view.top + line < page->view.lines.count;
		if (hit && page->kind != PAGE_FLAME)
			view_move_to(&page->view, page->view.top + line);
		if (hit && event->key == BROWSE_KEY_DOUBLE)
			enter(browser);
	}
}

static void page_key(struct browser *browser, const struct browse_event *event)
{
	unsigned bit = browser_page_bit(browser_page(browser));
	const char digit[] = { (char)event->key, '\0' };
	uint32_t key = event->key > '0' && event->key <= '9' ? '0' : event->key;
	for (size_t i = 0; i < browse_key_count; i++)
		if (browse_keys[i].key == key && browse_keys[i].pages & bit) {
			browser_act(browser, browse_keys[i].action, browse_keys[i].action == ACTION_GROUP_SORT ? digit : NULL, NULL);
			return;
		}
	if (key != BROWSE_KEY_NONE)
		browser_note(browser, "no function on this key: h lists all keys");
}

void browser_key(struct browser *browser, const struct browse_event *event)
{
	browser_work(browser);
	browser->touched = true;
	browser->note[0] = '\0';
	browser->error_note = browser->hot_note = false;
	if (browser->prompt.label)
		prompt_key(browser, event);
	else if (browser->menu.open)
		menu_key(browser, event);
	else if (event->key == BROWSE_KEY_INTERRUPT)
		browser->quit = true;
	else if (event->key >= BROWSE_KEY_CLICK)
		mouse(browser, event);
	else if (browser->strip.active && browser_layout(browser).strip != SIZE_MAX)
		strip_key(browser, event);
	else
		page_key(browser, event);
}
