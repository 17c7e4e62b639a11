/* What of a snapshot is visible, and where the user is in it: cursor, scrolling, expanded rows, filters, order, columns, search, marks.
 * Pure: knows neither a terminal nor keys. Rows are remembered by identity, so that a newer snapshot of the same analysis can replace the
 * one shown. */
#pragma once
#include <regex.h>

#include "base/hash.h"
#include "render/tui/snapshot.h"

struct view_line {
	uint32_t row, depth;
	bool more;                 /* the next line with this depth has the same parent */
};

enum view_filter_kind {
	VIEW_FILTER_EQUAL,         /* the cell of a column has this text */
	VIEW_FILTER_MATCH,         /* a cell of the row matches this expression */
	VIEW_FILTER_MARKED,
	VIEW_FILTER_SHARE,         /* one of the shares is at least this */
};

struct view_filter {
	enum view_filter_kind kind;
	char *column;              /* EQUAL: its name */
	char *text;
	regex_t regex;             /* MATCH */
	double percent;            /* SHARE */
};

struct identities {
	struct idmap map;          /* 1: member */
};

enum { VIEW_NO_SORT = -1, VIEW_COLUMNS_MAX = 64 };
#define VIEW_NO_COLUMN SIZE_MAX

struct view {
	const struct snapshot *shot; /* borrowed, until the next view_adopt */
	VEC(struct view_line) lines;
	VEC(struct view_filter) filters;
	VEC(uint8_t) passes;       /* by row */
	size_t cursor, top, height, shift; /* shift: columns of text scrolled to the right */
	bool all_open;             /* all rows are open but those in `toggled`; otherwise only those are */
	struct identities toggled, marked;
	uint64_t at;               /* identity of the row under the cursor */
	bool moved;                /* the user moved the cursor: it stays on its row; otherwise on the first line */
	int sort;                  /* column; VIEW_NO_SORT: the order of the analysis */
	bool ascending;
	uint64_t hidden;           /* columns, as bits */
	bool relative;             /* shares are parts of what passes the filters */
	uint64_t passing;          /* sum of the shares of the top rows that pass */
	size_t required;           /* rows with an absent cell of this column are not shown; VIEW_NO_COLUMN: all are */
	char *search;
	regex_t search_regex;      /* if search */
	size_t matches;            /* lines that match the search */
};

void view_init(struct view *view);
void view_fini(struct view *view);
/* Shows this snapshot from now on. */
void view_adopt(struct view *view, const struct snapshot *snapshot);
void view_resize(struct view *view, size_t height);
/* Scrolls so that the line under the cursor is in the middle. */
void view_center(struct view *view);

/* UINT32_MAX: no row. */
uint32_t view_row(const struct view *view);
void view_move(struct view *view, long lines);
void view_move_to(struct view *view, size_t line);

/* A line of source between the instructions of a page of code. */
bool view_is_source(const struct view *view, uint32_t row);
bool view_is_expanded(const struct view *view, uint32_t row);
/* Opens or closes the row under the cursor; false: it has no rows below it. */
bool view_toggle(struct view *view);
/* Opens the rows above a row, and moves to it. */
void view_reveal(struct view *view, uint32_t row);
/* Opens or closes everything below the row under the cursor, or below every row. */
void view_expand_entry(struct view *view, bool open);
void view_expand_all(struct view *view, bool open);

/* Adds a filter; false and *err: the expression is invalid. */
bool view_filter_equal(struct view *view, const char *column, const char *text);
int view_filter_match(struct view *view, const char *text, struct error *err);
void view_filter_marked(struct view *view);
void view_filter_share(struct view *view, double percent);
/* Removes the newest filter; false: no filter is set. */
bool view_filter_undo(struct view *view);
/* "thread = 12:cc, /main/": empty without filters. */
void view_filter_text(const struct view *view, struct str *out);

/* Sorts by a column, and once more: in the other direction. */
void view_sort(struct view *view, int column);
void view_sort_next(struct view *view, int step);
void view_hide(struct view *view, size_t column, bool hide);
static inline bool view_is_hidden(const struct view *view, size_t column)
{
	return column < VIEW_COLUMNS_MAX && view->hidden >> column & 1;
}
void view_relative(struct view *view, bool relative);
void view_require(struct view *view, size_t column);

/* "" ends the search. */
int view_search(struct view *view, const char *text, struct error *err);
bool view_search_next(struct view *view, int step); /* false: no line matches */
bool view_matches(const struct view *view, uint32_t row);

void view_mark(struct view *view);
bool view_is_marked(const struct view *view, uint32_t row);
/* The line with the largest value of the first measure, in the order shown; on a page of code, of the source line with the largest sum.
 * SIZE_MAX: none. */
size_t view_hottest_line(const struct view *view);
/* Moves to it. */
void view_hottest(struct view *view);
/* To the line that follows the one under the cursor in the order of that measure (step 1), or precedes it (-1); around at the ends. */
void view_hot_next(struct view *view, int step);

/* The text of a cell as shown: with shares of what passes the filters. */
void view_cell_text(const struct view *view, uint32_t row, size_t column, struct str *out);
/* The share that a row shows first, of detail rows that of their period; -1: it has none. */
double view_share(const struct view *view, uint32_t row);
/* All cells of a row, as text. */
void view_row_text(const struct view *view, uint32_t row, struct str *out);
