/* The formats that results are printed in; --format takes their names. A format is a file of this folder that defines
 * `const struct format format_NAME`, and its name in meson.build. It prints any results, and knows no analysis. */
#pragma once
#include "analysis/table/cell_text.h"
#include "analysis/table/table.h"
#include "base/error.h"
#include "base/str.h"
#include "base/writer.h"

struct format {
	const char *name, *summary;
	void (*print)(const struct results *results, struct writer *out); /* NULL: the command's own text, as perf prints it */
	const struct row_format *rows;  /* for tables whose rows are not stored; NULL if print is */
};

/* ERROR_OPTION: no format has that name; the text lists those that exist. */
const struct format *format_find(const char *name, struct error *err);
/* Appends the names, separated by ", ". */
void format_words(struct str *to);

/* For formats: one value as JSON, a number, a string, a list or an object by its kind; null where it is absent. */
void cell_json(const struct cell *cell, struct writer *out);
/* For formats of text: a value passed through the format's escaping of texts. A place is its symbol or address, a list or a map its JSON;
 * nothing where the value is absent. As a document, which people read, a task is its number and name; as data its number. */
void cell_escaped(const struct cell *cell, enum cell_form form, void (*add_text)(const char *text, struct writer *out), struct writer *out);
