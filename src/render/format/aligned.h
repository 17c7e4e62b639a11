/* A table as aligned columns for people: the text of commands whose results have no layout of perf's. */
#pragma once
#include "analysis/table/table.h"
#include "base/writer.h"

/* Prints the headings and rows. Rows below a row are indented in the first column; numbers are aligned right; times have the unit of their
 * column's largest value, which is part of the heading. Columns without a value in any row are left out. */
void aligned_print(const struct table *table, struct writer *out);
