/* Reads what `stat -j` writes: a JSON object a line, of which event, unit and counter-value count. Other lines are counted and skipped, so
 * that the results of several runs may be joined with comments or other output. */
#pragma once
#include "analysis/runs/runs.h"

struct stat_lines {
	size_t values;    /* that were added */
	size_t uncounted; /* rows whose value is no number: "<not supported>" */
	size_t skipped;   /* lines that are no such object */
};

void stat_lines_read(struct stat_lines *lines, const char *text, size_t len, struct runs *runs, enum run_side side);
