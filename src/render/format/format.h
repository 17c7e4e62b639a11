/* The formats that results are printed in: a row each. --format takes their names. */
#pragma once
#include "analysis/table/table.h"
#include "base/error.h"
#include "base/writer.h"

struct format {
	const char *name, *summary;
	void (*print)(const struct results *results, struct writer *out); /* NULL: the command's own text, as perf prints it */
};

extern const struct format formats[];
extern const size_t format_count;

/* ERROR_OPTION: there is none of that name; the hint names those there are. */
const struct format *format_find(const char *name, struct error *err);
