/* The text of values without a name in them: numbers, shares, times, addresses, flags. Texts, tasks, places, lists and maps are escaped or
 * nested by each format in its own way. */
#pragma once
#include "analysis/table/cell.h"

enum cell_form {
	CELL_FORM_SCREEN,   /* short: "12.35%", "1.50", seconds "12.000345", "yes" */
	CELL_FORM_DOCUMENT, /* "12.35%", "1.5000", nanoseconds, "yes" */
	CELL_FORM_DATA,     /* as exact as the value: 0.12345678901234568, nanoseconds, "1" */
};

enum { CELL_VALUE_MAX = 64 };

/* Returns the length of the text; 0: the cell is absent, or of another kind. */
size_t cell_value_text(const struct cell *cell, enum cell_form form, char text[CELL_VALUE_MAX]);
/* Whether the kind has such a text that is a number: it is aligned right. */
bool cell_is_number(enum cell_kind kind);
