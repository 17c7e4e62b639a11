/* A screen as an array of cells, each with a character and an attribute: what is shown, independent of a terminal. A wide character takes
 * two cells; combining characters belong to the cell before. Knows not what it shows. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum screen_style {
	STYLE_PLAIN,
	STYLE_TITLE,      /* the first line, heads of columns */
	STYLE_HOT,        /* 5 % and more, as perf's browser */
	STYLE_WARM,       /* 0.5 % and more */
	STYLE_MATCH,      /* found by the search */
	STYLE_DIM,
	STYLE_KEYS,       /* the bottom line */
	STYLE_BOX,        /* menus, help */
	STYLE_ERROR,
	STYLE_USER, STYLE_KERNEL, STYLE_INLINE, STYLE_JIT, STYLE_TASK, STYLE_UNKNOWN, /* frames of a flame graph */
	STYLE_HEAT1, STYLE_HEAT2, STYLE_HEAT3, STYLE_HEAT4,
	STYLE_COUNT,
	STYLE_REVERSE = 0x80, STYLE_BOLD = 0x40, /* added to one of them */
	STYLE_MASK = 0x3f,
};

enum { SCREEN_CELL_BYTES = 24, SCREEN_LINES_MAX = 1000, SCREEN_COLUMNS_MAX = 2000 };

struct screen_cell {
	char text[SCREEN_CELL_BYTES]; /* one character and its combining ones; "": the second half of the wide one before */
	uint8_t style, width;
};

struct screen {
	struct screen_cell *cells;    /* [line * columns + column] */
	size_t lines, columns;
	bool ascii;                   /* the terminal shows no others: lines and blocks are drawn with letters */
};

void screen_fini(struct screen *screen);
/* Sizes are limited; every cell becomes a blank. */
void screen_resize(struct screen *screen, size_t lines, size_t columns);
void screen_clear(struct screen *screen);

/* Writes UTF-8 from a column on, cut at `end` (exclusive; at most the screen's width), and returns the column after it. Positions outside
 * are allowed. Controls and invalid bytes are shown as '?'. */
size_t screen_put(struct screen *screen, size_t line, size_t column, size_t end, uint8_t style, const char *text);
/* The same for a name: one that does not fit is cut in its middle, as names of templates and packages differ at their ends. */
size_t screen_put_name(struct screen *screen, size_t line, size_t column, size_t end, uint8_t style, const char *name);
size_t screen_printf(struct screen *screen, size_t line, size_t column, size_t end, uint8_t style, const char *format, ...)
	__attribute__((format(printf, 6, 7)));
/* Blanks up to `end`. */
void screen_fill(struct screen *screen, size_t line, size_t column, size_t end, uint8_t style);
/* Changes the style of cells, and leaves their text. */
void screen_restyle(struct screen *screen, size_t line, size_t column, size_t end, uint8_t style);

/* The columns that a text takes. */
size_t text_columns(const char *text);
/* The number of bytes of the longest start of the text that takes at most `columns` columns. */
size_t text_fit(const char *text, size_t columns);

/* A line as text, without blanks at its end. */
void screen_line_text(const struct screen *screen, size_t line, struct str *out);
