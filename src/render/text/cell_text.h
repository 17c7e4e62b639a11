/* A value as perf's reports lay it out. */
#pragma once
#include "analysis/entry/column.h"

struct cell_style {
	unsigned width;
	bool verbose;       /* addresses and the tables' origins before symbols */
	bool nanoseconds;   /* of times: all digits */
};

/* Not padded behind the text, unless the column's layout is. */
void cell_text_add(const struct cell *cell, const struct column_type *type, const struct cell_style *style, struct str *out);
/* Padded to the width and cut at it. */
void text_left_cut(struct str *out, unsigned width, const char *text);
