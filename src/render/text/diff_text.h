/* A comparison of profiles as perf's text: for each event a heading, the columns' headers, a line per row. Knows no option table. */
#pragma once
#include "analysis/compare/significance.h"
#include "base/writer.h"

struct diff_text {
	const struct diff *diff;
	const char *const *paths;  /* by file */
	bool quiet, colour;
	bool list_files;           /* above each event; more than two files are always listed */
	bool show_spread, show_formula, show_periods;
	const struct significance *significance; /* NULL: not tested */
};

void diff_text_print(const struct diff_text *text, struct writer *out);
