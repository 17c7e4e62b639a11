/* Shared by the files of the browser. */
#pragma once
#include "render/tui/browser.h"

enum browse_action {
	ACTION_NONE, ACTION_QUIT, ACTION_BACK, ACTION_HELP, ACTION_UP, ACTION_DOWN, ACTION_LEFT, ACTION_RIGHT, ACTION_PAGE_UP, ACTION_PAGE_DOWN,
	ACTION_HOME, ACTION_END, ACTION_ENTER, ACTION_MENU, ACTION_TOGGLE, ACTION_ENTRY_OPEN, ACTION_ENTRY_CLOSE, ACTION_ALL_OPEN,
	ACTION_ALL_CLOSE, ACTION_ANNOTATE, ACTION_DSO, ACTION_THREAD, ACTION_KERNEL, ACTION_SOCKET, ACTION_FILTER, ACTION_FILTER_TAKE,
	ACTION_LIMIT, ACTION_LIMIT_TAKE, ACTION_UNDO, ACTION_RELATIVE, ACTION_HOTTEST, ACTION_HEADS, ACTION_PRINT, ACTION_HEADER,
	ACTION_NEXT_EVENT, ACTION_PREVIOUS_EVENT, ACTION_SEARCH, ACTION_SEARCH_TAKE, ACTION_NEXT_MATCH, ACTION_PREVIOUS_MATCH, ACTION_FLAME,
	ACTION_TIME, ACTION_COLUMNS, ACTION_COLUMN_HIDE, ACTION_SORT_NEXT, ACTION_SORT_PREVIOUS, ACTION_SORT, ACTION_REVERSE, ACTION_MARK,
	ACTION_MARKED, ACTION_EXPORT, ACTION_EXPORT_TAKE, ACTION_FILES, ACTION_OPEN, ACTION_SCRIPTS, ACTION_SCRIPT, ACTION_MODULES,
	ACTION_FREEZE, ACTION_ZERO, ACTION_MESSAGES, ACTION_FILTER_EQUAL, ACTION_GROUP_SORT, ACTION_SEARCH_BACK, ACTION_SEARCH_BACK_TAKE,
	ACTION_HOT_NEXT, ACTION_HOT_PREVIOUS, ACTION_CODE_SOURCE, ACTION_CODE_VALUE, ACTION_CODE_GLOBAL, ACTION_CODE_BASE, ACTION_CODE_ARROWS,
	ACTION_CALLERS, ACTION_CODE_JUMPS, ACTION_CODE_LINES, ACTION_CODE_PATHS, ACTION_CODE_OFFSETS, ACTION_CODE_RANGE,
};

enum { ON_TABLE = 1, ON_LINES = 2, ON_FLAME = 4, ON_EVENTS = 8, ON_CODE = 16, ON_ALL = 31 };

/* A key, what it does, on which pages, and the words of the help. */
struct key_row {
	uint32_t key;
	enum browse_action action;
	unsigned pages;
	const char *name, *help;     /* name NULL: another key of the row before */
	const char *brief;           /* for the bottom line; NULL: not there */
};

extern const struct key_row browse_keys[];
extern const size_t browse_key_count;

static inline struct browse_page *browser_page(const struct browser *browser)
{
	return browser->pages.items[browser->pages.count - 1];
}
unsigned browser_page_bit(const struct browse_page *page);

void browser_note(struct browser *browser, const char *format, ...) __attribute__((format(printf, 2, 3)));
void browser_error(struct browser *browser, const struct error *err);

/* Pages. A text page owns a snapshot with one column. */
struct browse_page *browser_push(struct browser *browser, enum browse_page_kind kind, const char *title);
void browser_push_text(struct browser *browser, const char *title, const char *text);
void browser_pop(struct browser *browser);
/* Removes the newest entries of this kind from what can be undone. */
void browser_forget(struct browser *browser, enum browse_undo kind, size_t count);
void browser_adopt_page(struct browser *browser, struct browse_page *page);
struct snapshot *snapshot_of_text(const char *text);
void browser_help_text(const struct browser *browser, struct str *out);
/* What the key of a line of that text does; ACTION_NONE: the line has no key. */
int browser_help_action(const struct browser *browser, size_t line);
/* Whether the source has what the action shows; whether the key does something on this page. */
bool browser_has_action(const struct browser *browser, int action);
bool browser_has_key(const struct browser *browser, const struct key_row *key);

void browser_act(struct browser *browser, int action, const char *argument, const char *column);

/* Menus and questions. */
void menu_open(struct browser *browser, const char *title);
void menu_add(struct browser *browser, int action, const char *argument, const char *column, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
void menu_close(struct browser *browser);
void menu_key(struct browser *browser, const struct browse_event *event);
void menu_paint(struct browser *browser, struct screen *screen);
void menu_of_row(struct browser *browser);
void menu_of_columns(struct browser *browser);
void menu_of_export(struct browser *browser);
void menu_of_files(struct browser *browser);
void menu_of_scripts(struct browser *browser);
void prompt_open(struct browser *browser, int action, const char *label, const char *text);
void prompt_key(struct browser *browser, const struct browse_event *event);

/* The time strip. */
bool strip_is_empty(const struct browser *browser); /* no sample has a time */
void strip_key(struct browser *browser, const struct browse_event *event);
void strip_mouse(struct browser *browser, const struct browse_event *event);
void strip_paint(struct browser *browser, struct screen *screen, size_t line);
struct browse_range browser_range(const struct browser *browser);
void browser_read(struct browser *browser);

/* Pages of code. */
void code_open(struct browser *browser);
void code_follow(struct browser *browser);
void code_note_hottest(struct browser *browser);
/* After newer counts: the note on the hottest line is made anew, the cursor stays. */
void code_renew_note(struct browser *browser);
/* Makes a page of code anew, of the newest complete results. */
void code_again(struct browser *browser, struct browse_page *page);
/* A table of one row, of one column: the function of a row; NULL: the row has none. */
struct snapshot *code_function(const struct snapshot *shot, uint32_t row);
const char *code_function_name(const struct snapshot *function);
/* Whether the lines are those of the page, with newer counts. */
bool code_is_newer(const struct browse_page *page, const struct snapshot *lines);
/* Whether the action was one of code. */
bool code_act(struct browser *browser, int action);

/* Export. */
void browser_save(struct browser *browser, enum browse_format format);

/* The title, the heads and all lines that are shown, as text. */
void browser_page_text(const struct browser *browser, struct str *out);

/* Where the parts of a page are. */
struct browse_layout {
	size_t heads, strip, first, last; /* lines; SIZE_MAX: not shown; rows are in [first, last) */
};
struct browse_layout browser_layout(const struct browser *browser);
/* The column of the table at a column of the screen; SIZE_MAX: none. */
size_t browser_column_at(const struct browser *browser, size_t column);
