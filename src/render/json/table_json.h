/* Results as one JSON document: facts, columns and rows of each table. The rows of a tree are a list, too, each before those below it,
 * with their depth: nested ones would go beyond the limits of JSON readers. docs/formats.md describes it. Knows no analysis. */
#pragma once
#include "analysis/table/table.h"
#include "base/writer.h"

void results_json(const struct results *results, struct writer *out);
/* One value: a number, a string or an object, by its kind; null where it is absent. */
void cell_json(const struct cell *cell, struct writer *out);
