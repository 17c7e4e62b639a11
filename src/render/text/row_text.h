/* One line of a report, and the headers above it. */
#pragma once
#include "analysis/profile/hist.h"

/* A column's title at the column's width. */
void header_text_add(const struct profile *profile, const struct hist *hist, const struct column *column, struct str *out);
/* The entry's fields, separated and padded as perf does. */
void row_text_add(const struct profile *profile, const struct hist *hist, const struct entry *entry, bool colour, struct str *out);
/* One cell, not padded. */
void entry_cell_add(const struct profile *profile, const struct hist *hist, const struct column *column, const struct entry *entry,
	bool colour, struct str *out);
/* Escapes what was added to a line from `start` on: names contain no newline and, if the line will have colours, no terminal control. */
void report_name_clean(struct str *out, size_t start, bool colour);
/* Prints a line of the report whose names are escaped. */
void report_line_add(struct writer *out, const char *line, size_t len, bool colour);
/* Lines are cut at this length. */
size_t row_text_limit(const struct profile *profile, const struct hist *hist, bool colour);
/* The row's first key is the symbol, which its chain then needs not repeat. */
bool row_text_shows_frame(const struct profile *profile);
