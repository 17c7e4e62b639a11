/* Menus and questions above a page. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "render/tui/browser_state.h"
#include "render/tui/face.h"

void menu_close(struct browser *browser)
{
	struct browse_menu *menu = &browser->menu;
	for (size_t i = 0; i < menu->items.count; i++) {
		free(menu->items.items[i].label);
		free(menu->items.items[i].argument);
		free(menu->items.items[i].column);
	}
	vec_fini(&menu->items);
	*menu = (struct browse_menu){ 0 };
}

void menu_open(struct browser *browser, const char *title)
{
	menu_close(browser);
	browser->menu.open = true;
	browser->menu.title = title;
}

void menu_add(struct browser *browser, int action, const char *argument, const char *column, const char *format, ...)
{
	CLEANUP_STR struct str label = { 0 };
	va_list args;
	va_start(args, format);
	str_vprintf(&label, format, args);
	va_end(args);
	vec_push(&browser->menu.items, ((struct browse_item){ memory_string(str_text(&label)), action,
		argument ? memory_string(argument) : NULL, column ? memory_string(column) : NULL }));
}

static void choose(struct browser *browser)
{
	struct browse_item item = browser->menu.items.items[browser->menu.selected];
	char *argument = item.argument ? memory_string(item.argument) : NULL, *column = item.column ? memory_string(item.column) : NULL;
	menu_close(browser);
	browser_act(browser, item.action, argument, column);
	free(argument);
	free(column);
}

static void select_item(struct browse_menu *menu, long step)
{
	long selected = (long)menu->selected + step, count = (long)menu->items.count;
	menu->selected = (size_t)(selected < 0 ? 0 : selected >= count ? count - 1 : selected);
}

/* A column's row of the menu of columns: hidden or shown. */
static void toggle_column(struct browser *browser)
{
	size_t selected = browser->menu.selected;
	const struct browse_item *item = &browser->menu.items.items[selected];
	if (item->action != ACTION_SORT || !item->argument)
		return;
	browser_act(browser, ACTION_COLUMN_HIDE, item->argument, NULL);
	menu_of_columns(browser);
	browser->menu.selected = selected;
}

static void menu_click(struct browser *browser, const struct browse_event *event)
{
	struct browse_menu *menu = &browser->menu;
	bool inside = event->line > menu->line && event->line + 1 < menu->line + menu->height && event->column >= menu->column &&
		event->column < menu->column + menu->width;
	size_t index = menu->top + event->line - menu->line - 1;
	if (!inside || index >= menu->items.count) {
		menu_close(browser);
		return;
	}
	menu->selected = index;
	choose(browser);
}

/* Chooses the item whose label has the key at its end: "(a)", "(+; e and c: …)". */
static bool choose_by_key(struct browser *browser, uint32_t key)
{
	const char start[] = { '(', (char)key, '\0' };
	for (size_t i = 0; key > ' ' && key < 0x7f && i < browser->menu.items.count; i++) {
		const char *label = browser->menu.items.items[i].label, *at = strrchr(label, '(');
		if (!at || strncmp(at, start, sizeof start - 1) != 0 || !strchr(");", at[2]))
			continue;
		browser->menu.selected = i;
		choose(browser);
		return true;
	}
	return false;
}

void menu_key(struct browser *browser, const struct browse_event *event)
{
	struct browse_menu *menu = &browser->menu;
	switch (event->key) {
	case BROWSE_KEY_UP:
	case BROWSE_KEY_WHEEL_UP:
		select_item(menu, -1);
		break;
	case BROWSE_KEY_DOWN:
	case BROWSE_KEY_WHEEL_DOWN:
		select_item(menu, 1);
		break;
	case BROWSE_KEY_PAGE_UP:
	case BROWSE_KEY_HOME:
		menu->selected = 0;
		break;
	case BROWSE_KEY_PAGE_DOWN:
	case BROWSE_KEY_END:
		menu->selected = menu->items.count - 1;
		break;
	case ' ':
		toggle_column(browser);
		break;
	case BROWSE_KEY_ENTER:
	case BROWSE_KEY_RIGHT:
		choose(browser);
		break;
	case BROWSE_KEY_CLICK:
	case BROWSE_KEY_DOUBLE:
		menu_click(browser, event);
		break;
	case BROWSE_KEY_INTERRUPT:
		browser->quit = true;
		break;
	case BROWSE_KEY_ESCAPE:
	case BROWSE_KEY_LEFT:
		menu_close(browser);
		break;
	default:
		if (!choose_by_key(browser, event->key) && event->key == 'q')
			menu_close(browser);
		break;
	}
}

static void paint_frame(struct screen *screen, const struct browse_menu *menu)
{
	/* at the left, within, at the right: of the first line, the lines within, the last line */
	static const char *const lines[3][3] = { { "\xe2\x94\x8c", "\xe2\x94\x80", "\xe2\x94\x90" }, { "\xe2\x94\x82", " ", "\xe2\x94\x82" },
		{ "\xe2\x94\x94", "\xe2\x94\x80", "\xe2\x94\x98" } };
	static const char *const letters[3][3] = { { "+", "-", "+" }, { "|", " ", "|" }, { "+", "-", "+" } };
	size_t last = menu->line + menu->height - 1, end = menu->column + menu->width;
	for (size_t line = menu->line; line <= last; line++)
		for (size_t i = menu->column; i < end; i++) {
			size_t down = line == menu->line ? 0 : line < last ? 1 : 2, across = i == menu->column ? 0 : i + 1 < end ? 1 : 2;
			screen_put(screen, line, i, end, STYLE_BOX, (screen->ascii ? letters : lines)[down][across]);
		}
}

void menu_paint(struct browser *browser, struct screen *screen)
{
	struct browse_menu *menu = &browser->menu;
	size_t widest = text_columns(menu->title), rows = screen->lines > 3 ? screen->lines - 3 : 1;
	for (size_t i = 0; i < menu->items.count; i++) {
		size_t width = text_columns(menu->items.items[i].label);
		widest = width > widest ? width : widest;
	}
	rows = menu->items.count < rows ? menu->items.count : rows;
	menu->width = widest + 4 < screen->columns ? widest + 4 : screen->columns;
	menu->height = rows + 2;
	menu->column = (screen->columns - menu->width) / 2;
	menu->line = screen->lines > menu->height + 1 ? (screen->lines - menu->height - 1) / 2 : 0;
	if (menu->selected < menu->top)
		menu->top = menu->selected;
	if (menu->selected >= menu->top + rows)
		menu->top = menu->selected + 1 - rows;
	if (menu->top > menu->items.count - rows)
		menu->top = menu->items.count - rows; /* the terminal became larger */
	size_t end = menu->column + menu->width;
	paint_frame(screen, menu);
	screen_printf(screen, menu->line, menu->column + 1, end - 1, STYLE_BOX | STYLE_BOLD, " %s ", menu->title);
	for (size_t i = 0; i < rows; i++) {
		size_t index = menu->top + i, line = menu->line + 1 + i;
		uint8_t style = STYLE_BOX | (index == menu->selected ? STYLE_REVERSE : 0);
		screen_fill(screen, line, menu->column + 1, end - 1, style);
		screen_put(screen, line, menu->column + 2, end - 1, style, menu->items.items[index].label);
	}
}

/* "Only thread 12:cc1" for each column of the row that names something. */
static void add_filters(struct browser *browser, const struct snapshot *shot, uint32_t row)
{
	static const struct { const char *column, *what, *key; } filters[] = {
		{ "thread", "thread", " (t)" }, { "comm", "command", " (t)" }, { "dso", "shared object", " (d)" }, { "cpu", "CPU", "" },
		{ "socket", "socket", " (S)" },
	};
	enum { FILTERS = sizeof filters / sizeof *filters };
	for (size_t column = 0; column < shot->columns.count; column++) {
		CLEANUP_STR struct str text = { 0 };
		const struct table_column *at = &shot->columns.items[column];
		const struct cell *cell = snapshot_cell(shot, row, column);
		size_t i = 0;
		while (i < FILTERS && (cell->kind == CELL_FLAG || strcmp(filters[i].column, at->name) != 0))
			i++;
		if (cell->kind == CELL_ABSENT || (i == FILTERS && cell->kind != CELL_TEXT && cell->kind != CELL_TASK && cell->kind != CELL_FLAG))
			continue;
		face_add(cell, &text);
		if (i < FILTERS)
			menu_add(browser, ACTION_FILTER_EQUAL, str_text(&text), at->name, "Only %s %s%s", filters[i].what, str_text(&text),
				filters[i].key);
		else
			menu_add(browser, ACTION_FILTER_EQUAL, str_text(&text), at->name, "Only rows with %s %s", at->title ? at->title : at->name,
				str_text(&text));
	}
}

static void add_if_known(struct browser *browser, int action, const char *label)
{
	if (browser_has_action(browser, action))
		menu_add(browser, action, NULL, NULL, "%s", label);
}

void menu_of_row(struct browser *browser)
{
	const struct view *view = &browser_page(browser)->view;
	uint32_t row = view_row(view);
	if (row == UINT32_MAX)
		return;
	const struct snapshot *shot = view->shot;
	const struct snapshot_columns *columns = snapshot_columns_of(shot, row);
	size_t place = snapshot_column_of_kind(columns, CELL_PLACE);
	CLEANUP_STR struct str symbol = { 0 };
	menu_open(browser, "This row");
	if (browser_has_action(browser, ACTION_ANNOTATE) && place != SIZE_MAX && snapshot_cell(shot, row, place)->kind == CELL_PLACE) {
		face_add(snapshot_cell(shot, row, place), &symbol);
		menu_add(browser, ACTION_ANNOTATE, NULL, NULL, "Annotate %s (a)", str_text(&symbol) + 4);
	}
	add_filters(browser, shot, snapshot_entry(shot, row));
	if (shot->rows.items[row].child_count)
		menu_add(browser, ACTION_TOGGLE, NULL, NULL, "%s this row (+; e and c: with all below)",
			view_is_expanded(view, row) ? "Close" : "Open");
	add_if_known(browser, ACTION_FLAME, "Flame graph of the event (g)");
	add_if_known(browser, ACTION_TIME, "Filter by time: mark a range on the strip (T)");
	if (view->filters.count || browser->ranges.count)
		menu_add(browser, ACTION_UNDO, NULL, NULL, "Undo the newest filter (u)");
	add_if_known(browser, ACTION_SCRIPTS, "Show samples one by one (r)");
	add_if_known(browser, ACTION_FILES, "Switch to another recording of this folder (s)");
	menu_add(browser, ACTION_QUIT, NULL, NULL, "Quit (q)");
}

void menu_of_columns(struct browser *browser)
{
	const struct view *view = &browser_page(browser)->view;
	menu_open(browser, "Columns: ENTER sorts, SPACE shows or hides");
	for (size_t i = 0; i < view->shot->columns.count; i++) {
		char number[24];
		snprintf(number, sizeof number, "%zu", i);
		const struct table_column *at = &view->shot->columns.items[i];
		const char *sorted = view->sort != (int)i ? "" : view->ascending ? " (sorted, smallest first)" : " (sorted, largest first)";
		menu_add(browser, ACTION_SORT, number, NULL, "[%c] %s%s", view_is_hidden(view, i) ? ' ' : 'x',
			at->title && *at->title ? at->title : at->name, sorted);
	}
	menu_add(browser, ACTION_SORT, NULL, NULL, "    the order of the analysis");
}

void menu_of_export(struct browser *browser)
{
	menu_open(browser, "Export what is shown");
	if (browser_page(browser)->kind == PAGE_FLAME) {
		menu_add(browser, ACTION_EXPORT_TAKE, "svg", NULL, "SVG: a flame graph for a browser");
		menu_add(browser, ACTION_EXPORT_TAKE, "folded", NULL, "folded stacks");
		return;
	}
	menu_add(browser, ACTION_EXPORT_TAKE, "text", NULL, "text");
	menu_add(browser, ACTION_EXPORT_TAKE, "json", NULL, "JSON");
	menu_add(browser, ACTION_EXPORT_TAKE, "csv", NULL, "CSV");
}

void menu_of_files(struct browser *browser)
{
	CLEANUP_STR struct str names = { 0 };
	if (browser->source.files)
		browser->source.files(browser->source.context, &names);
	if (!names.len) {
		browser_note(browser, "no other recording is in this folder");
		return;
	}
	menu_open(browser, "Recordings of this folder");
	char *rest = names.text;
	for (char *name; (name = strsep(&rest, "\n"));)
		if (*name)
			menu_add(browser, ACTION_OPEN, name, NULL, "%s", name);
}

void menu_of_scripts(struct browser *browser)
{
	const struct view *view = &browser_page(browser)->view;
	uint32_t row = view_row(view);
	size_t column = snapshot_column_named(&view->shot->columns, "comm");
	if (!browser->source.script) {
		browser_note(browser, "samples one by one: perfuse script");
		return;
	}
	menu_open(browser, "Samples one by one");
	if (row != UINT32_MAX && !view->shot->rows.items[row].detail && column != SIZE_MAX) {
		CLEANUP_STR struct str comm = { 0 };
		face_add(snapshot_cell(view->shot, row, column), &comm);
		menu_add(browser, ACTION_SCRIPT, str_text(&comm), NULL, "of the command %s", str_text(&comm));
	}
	menu_add(browser, ACTION_SCRIPT, NULL, NULL, "all");
}

void prompt_open(struct browser *browser, int action, const char *label, const char *text)
{
	browser->prompt.label = label;
	browser->prompt.action = action;
	str_clear(&browser->prompt.text);
	str_puts(&browser->prompt.text, text);
}

/* Appends a character as UTF-8. */
static void type_character(struct str *text, uint32_t code)
{
	enum { TYPED_MAX = 200 };
	if (code < 0x20 || code == 0x7f || code >= 0x110000 || text->len > TYPED_MAX)
		return;
	if (code < 0x80) {
		str_putc(text, (char)code);
	} else if (code < 0x800) {
		str_printf(text, "%c%c", (int)(0xc0 | code >> 6), (int)(0x80 | (code & 0x3f)));
	} else if (code < 0x10000) {
		str_printf(text, "%c%c%c", (int)(0xe0 | code >> 12), (int)(0x80 | (code >> 6 & 0x3f)), (int)(0x80 | (code & 0x3f)));
	} else {
		str_printf(text, "%c%c%c%c", (int)(0xf0 | code >> 18), (int)(0x80 | (code >> 12 & 0x3f)), (int)(0x80 | (code >> 6 & 0x3f)),
			(int)(0x80 | (code & 0x3f)));
	}
}

void prompt_key(struct browser *browser, const struct browse_event *event)
{
	struct browse_prompt *prompt = &browser->prompt;
	if (event->key == BROWSE_KEY_ESCAPE || event->key == BROWSE_KEY_INTERRUPT) {
		prompt->label = NULL;
	} else if (event->key == BROWSE_KEY_ENTER) {
		char *text = memory_string(str_text(&prompt->text));
		prompt->label = NULL;
		browser_act(browser, prompt->action, text, NULL);
		free(text);
	} else if (event->key == BROWSE_KEY_BACKSPACE || event->key == BROWSE_KEY_DELETE || event->key == 0x7f) {
		while (prompt->text.len && (prompt->text.text[--prompt->text.len] & 0xc0) == 0x80)
			;
		if (prompt->text.text)
			prompt->text.text[prompt->text.len] = '\0';
	} else {
		type_character(&prompt->text, event->key);
	}
}
