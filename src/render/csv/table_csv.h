/* Results as CSV (RFC 4180): for each table a line of the columns' names, then a line for each row, rows below it after it. Tables are
 * apart by an empty line. Facts, and tables that belong to rows, are left out. Knows no analysis. */
#pragma once
#include "analysis/table/table.h"
#include "base/writer.h"

void results_csv(const struct results *results, struct writer *out);
