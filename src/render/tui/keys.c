/* The keys of all pages: one table for what they do, the help and the bottom line. */
#include "render/tui/browser_state.h"

#define TREES (ON_TABLE)
#define ROWS (ON_TABLE | ON_LINES | ON_CODE | ON_EVENTS)

const struct key_row browse_keys[] = {
	{ 'h', ACTION_HELP, ON_ALL & ~ON_CODE, "h ? F1", "This page", "help" },
	{ 'h', ACTION_HELP, ON_CODE, "h F1", "This page", "help" },
	{ '?', ACTION_HELP, ON_ALL & ~ON_CODE, NULL, NULL, NULL },
	{ BROWSE_KEY_UP, ACTION_UP, ROWS, "UP/DOWN", "Move by a row", NULL },
	{ BROWSE_KEY_DOWN, ACTION_DOWN, ROWS, NULL, NULL, NULL },
	{ BROWSE_KEY_UP, ACTION_UP, ON_FLAME, "UP/DOWN", "To the caller, to the heaviest callee", NULL },
	{ BROWSE_KEY_DOWN, ACTION_DOWN, ON_FLAME, NULL, NULL, NULL },
	{ BROWSE_KEY_PAGE_UP, ACTION_PAGE_UP, ON_ALL, "PGUP/PGDN/SPACE", "Move by a screen", NULL },
	{ BROWSE_KEY_PAGE_DOWN, ACTION_PAGE_DOWN, ON_ALL, NULL, NULL, NULL },
	{ ' ', ACTION_PAGE_DOWN, ON_ALL, NULL, NULL, NULL },
	{ BROWSE_KEY_HOME, ACTION_HOME, ON_ALL, "HOME/END", "Move to the first or last row", NULL },
	{ BROWSE_KEY_END, ACTION_END, ON_ALL, NULL, NULL, NULL },
	{ BROWSE_KEY_LEFT, ACTION_LEFT, ROWS, "LEFT/RIGHT", "Scroll sideways", NULL },
	{ BROWSE_KEY_RIGHT, ACTION_RIGHT, ROWS, NULL, NULL, NULL },
	{ BROWSE_KEY_LEFT, ACTION_LEFT, ON_FLAME, "LEFT/RIGHT", "To the frame beside", NULL },
	{ BROWSE_KEY_RIGHT, ACTION_RIGHT, ON_FLAME, NULL, NULL, NULL },
	{ BROWSE_KEY_ENTER, ACTION_ENTER, ON_TABLE, "ENTER", "Menu of the row: annotate, filter, callers", "menu" },
	{ BROWSE_KEY_ENTER, ACTION_ENTER, ON_FLAME, "ENTER", "Zoom into the frame", NULL },
	{ BROWSE_KEY_ENTER, ACTION_ENTER, ON_CODE, "ENTER", "Follow the jump of the line; open the function that it calls", "follow" },
	{ BROWSE_KEY_ENTER, ACTION_ENTER, ON_LINES, NULL, NULL, NULL }, /* of the help */
	{ BROWSE_KEY_TAB, ACTION_HOT_NEXT, ON_CODE, "TAB/UNTAB", "To the next or previous line in the order of samples",
		"next hot line" },
	{ BROWSE_KEY_UNTAB, ACTION_HOT_PREVIOUS, ON_CODE, NULL, NULL, NULL },
	{ 's', ACTION_CODE_SOURCE, ON_CODE, "s", "Show source lines between instructions, or not", "source" },
	{ 't', ACTION_CODE_VALUE, ON_CODE, "t", "Show percentages, periods or numbers of samples", NULL },
	{ 'p', ACTION_CODE_GLOBAL, ON_CODE, "p", "Percentages of this function, or of all functions", NULL },
	{ 'b', ACTION_CODE_BASE, ON_CODE, "b", "Percentages of periods, or of numbers of samples", NULL },
	{ 'j', ACTION_CODE_ARROWS, ON_CODE, "j", "Show arrows from jumps to their targets, or not", NULL },
	{ 'J', ACTION_CODE_JUMPS, ON_CODE, "J", "Show the number of jumps to each line, or not", NULL },
	{ 'k', ACTION_CODE_LINES, ON_CODE, "k", "Show places in the source, or not", NULL },
	{ 'l', ACTION_CODE_PATHS, ON_CODE, "l", "Show whole paths of the source, or not", NULL },
	{ 'O', ACTION_CODE_OFFSETS, ON_CODE, "O", "Show offsets in the function, or addresses", NULL },
	{ 'c', ACTION_CODE_RANGE, ON_CODE, "c", "Show the least and the most cycles, or not (branch stacks)", NULL },
	{ BROWSE_KEY_ENTER, ACTION_ENTER, ON_EVENTS, "ENTER", "The rows of the event", "open" },
	{ 'm', ACTION_MENU, ON_TABLE, "m", "The same menu", NULL },
	{ BROWSE_KEY_ESCAPE, ACTION_BACK, ON_ALL, "ESC", "Undo the newest filter; go back to the previous page", NULL },
	{ 'q', ACTION_QUIT, ON_ALL, "q", "Go back to the previous page; on the first one: quit", "quit" },
	{ BROWSE_KEY_INTERRUPT, ACTION_QUIT, ON_ALL, "CTRL+C", "Quit", NULL },
	{ '+', ACTION_TOGGLE, TREES, "+", "Open or close the row: its callers, the rows below it", "callers" },
	{ 'e', ACTION_ENTRY_OPEN, TREES, "e/c", "Open or close everything below the row", NULL },
	{ 'c', ACTION_ENTRY_CLOSE, TREES, NULL, NULL, NULL },
	{ 'E', ACTION_ALL_OPEN, TREES, "E/C", "Open or close all rows", NULL },
	{ 'C', ACTION_ALL_CLOSE, TREES, NULL, NULL, NULL },
	{ 'a', ACTION_ANNOTATE, ON_TABLE, "a", "Annotate: the lines of the row's function", "annotate" },
	{ '^', ACTION_HOTTEST, ON_TABLE, "^", "Move to the hottest row: the largest share of its own", "hottest" },
	{ '+', ACTION_CALLERS, ON_CODE, "+", "Back to the row of this function, and open its callers", "callers" },
	{ 'g', ACTION_FLAME, ON_TABLE, "g", "Flame graph of the event, with the row's function selected", "flame graph" },
	{ 'g', ACTION_FLAME, ON_CODE, "g", "Flame graph of the event, with this function selected", NULL },
	{ 'd', ACTION_DSO, ON_TABLE, "d", "Filter: only rows of the row's shared object", NULL },
	{ 't', ACTION_THREAD, ON_TABLE, "t", "Filter: only rows of the row's thread or command", NULL },
	{ 'k', ACTION_KERNEL, ON_TABLE, "k", "Filter: only rows of the kernel", NULL },
	{ 'S', ACTION_SOCKET, ON_TABLE, "S", "Filter: only rows of the row's processor socket", NULL },
	{ '/', ACTION_SEARCH, ON_CODE, "/ ?", "Search: move to a line that matches a regular expression, forwards or backwards",
		"search" },
	{ '?', ACTION_SEARCH_BACK, ON_CODE, NULL, NULL, NULL },
	{ '/', ACTION_FILTER, ON_TABLE | ON_LINES, "/", "Filter: only rows that match a regular expression", "filter" },
	{ 'L', ACTION_LIMIT, ON_TABLE, "L", "Filter: only rows with at least this percentage", NULL },
	{ 'u', ACTION_UNDO, ON_ALL, "u", "Undo the newest filter or range of time", NULL },
	{ 'F', ACTION_RELATIVE, ON_TABLE, "F", "Percentages of all samples, or of those that pass", NULL },
	{ BROWSE_KEY_FIND, ACTION_SEARCH, ON_ALL, "CTRL+F", "Search: move to a match of a regular expression, highlight all, hide no row",
		NULL },
	{ 'n', ACTION_NEXT_MATCH, ON_ALL, "n/N", "Next and previous match of the search", NULL },
	{ 'N', ACTION_PREVIOUS_MATCH, ON_ALL, NULL, NULL, NULL },
	{ 'H', ACTION_HOTTEST, ON_CODE, "H", "Move to the hottest line", "hottest" },
	{ 'H', ACTION_HEADS, ON_TABLE, "H", "Show the heads of columns, or not", NULL },
	{ 'T', ACTION_TIME, ON_TABLE | ON_FLAME | ON_EVENTS | ON_CODE, "T",
		"Filter by time: the time strip, on which ENTER marks a range for every page", "time" },
	{ 'o', ACTION_COLUMNS, ON_TABLE | ON_CODE, "o", "Columns: choose and sort", "columns" },
	{ '<', ACTION_SORT_PREVIOUS, ROWS, "< >", "Sort by the previous or next column", NULL },
	{ '>', ACTION_SORT_NEXT, ROWS, NULL, NULL, NULL },
	{ 'R', ACTION_REVERSE, ROWS, "R", "Reverse the order of the sorted column", NULL },
	{ '*', ACTION_MARK, ON_TABLE, "*", "Mark the row, or not", NULL },
	{ '@', ACTION_MARKED, ON_TABLE, "@", "Filter: only marked rows", NULL },
	{ BROWSE_KEY_TAB, ACTION_NEXT_EVENT, ON_TABLE, "TAB/UNTAB", "Next and previous event", NULL },
	{ BROWSE_KEY_UNTAB, ACTION_PREVIOUS_EVENT, ON_TABLE, NULL, NULL, NULL },
	{ '0', ACTION_GROUP_SORT, ON_TABLE, "0-9", "Sort by this event of a group", NULL },
	{ 'P', ACTION_PRINT, ROWS, "P", "Write what is shown to a file perf.hist.N", NULL },
	{ 'x', ACTION_EXPORT, ON_TABLE | ON_FLAME | ON_CODE | ON_LINES, "x",
		"Export what is shown: text, JSON, CSV, SVG, folded", "export" },
	{ 'i', ACTION_HEADER, ON_TABLE | ON_EVENTS, "i", "The recording's header", NULL },
	{ 's', ACTION_FILES, ON_TABLE | ON_EVENTS, "s", "Switch to another recording of this folder", NULL },
	{ 'r', ACTION_SCRIPTS, ON_TABLE, "r", "Samples one by one, of the row's command or all", NULL },
	{ 'v', ACTION_MODULES, ON_TABLE, "v V", "Show the shared objects of callers, or not", NULL },
	{ 'V', ACTION_MODULES, ON_TABLE, NULL, NULL, NULL },
	{ 'f', ACTION_FREEZE, ON_TABLE, "f", "While results change: freeze the screen, or not", NULL },
	{ 'z', ACTION_ZERO, ON_TABLE, "z", "Of a running measurement: begin again from zero", NULL },
	{ '!', ACTION_MESSAGES, ON_ALL, "!", "Messages about the recording", NULL },
};

const size_t browse_key_count = sizeof browse_keys / sizeof *browse_keys;

unsigned browser_page_bit(const struct browse_page *page)
{
	switch (page->kind) {
	case PAGE_EVENTS:
		return ON_EVENTS;
	case PAGE_FLAME:
		return ON_FLAME;
	case PAGE_LINES:
		return page->code ? ON_CODE : ON_LINES;
	default:
		return ON_TABLE;
	}
}

bool browser_has_action(const struct browser *browser, int action)
{
	const struct browse_source *source = &browser->source;
	switch (action) {
	case ACTION_ANNOTATE:
		return source->annotate;
	case ACTION_FLAME:
		return (source->read && !source->without_flame) || source->flame;
	case ACTION_TIME:
		return source->read;
	case ACTION_HEADER:
		return source->header;
	case ACTION_FILES:
		return source->files;
	case ACTION_SCRIPTS:
		return source->script;
	case ACTION_ZERO:
		return source->zero;
	default:
		return true;
	}
}

bool browser_has_key(const struct browser *browser, const struct key_row *key)
{
	return key->pages & browser_page_bit(browser_page(browser)) && browser_has_action(browser, key->action);
}

int browser_help_action(const struct browser *browser, size_t line)
{
	for (size_t i = 0; i < browse_key_count; i++)
		if (browse_keys[i].name && browser_has_key(browser, &browse_keys[i]) && !line--)
			return browse_keys[i].action;
	return ACTION_NONE;
}

void browser_help_text(const struct browser *browser, struct str *out)
{
	for (size_t i = 0; i < browse_key_count; i++)
		if (browse_keys[i].name && browser_has_key(browser, &browse_keys[i]))
			str_printf(out, "  %-16s %s\n", browse_keys[i].name, browse_keys[i].help);
	if (browser_page(browser)->code)
		str_puts(out, "\n  The percentage of a source line is the sum of all its instructions in this function,\n"
			"  wherever they are; a line that is shown more than once has the same sum each time.\n");
	if (browser_has_action(browser, ACTION_TIME) && browser_page_bit(browser_page(browser)) != ON_LINES)
		str_puts(out, "\n  On the time strip: LEFT and RIGHT move by a column, PGUP and PGDN by a tenth, HOME and\n"
			"  END to the ends, 0 to 9 to that tenth (5: the middle). ENTER marks the start of a range,\n"
			"  and then its end. UP and DOWN lead back to the rows, ESC removes the strip.\n");
	str_puts(out, "\n  Mouse: a click selects, a double click is ENTER, the wheel scrolls. A click on\n"
		"  the head of a column sorts by it. Pulling on the time strip marks a range.\n");
}
