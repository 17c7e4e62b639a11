/* Results as CSV (RFC 4180): for each table a line of the columns' names, then a line for each row, rows below it after it. An empty line
 * separates tables. Lists and maps are JSON. Facts, and tables that belong to rows, are left out. */
#include <inttypes.h>
#include <string.h>

#include "render/format/format.h"

static void add_text(const char *text, struct writer *out)
{
	if (!text[strcspn(text, "\",\r\n")]) {
		writer_name(out, text, strlen(text));
		return;
	}
	writer_putc(out, '"');
	for (size_t len; *text; text += len) {
		len = strcspn(text, "\"");
		writer_name(out, text, len);
		if (text[len]) {
			writer_puts(out, "\"\"");
			len++;
		}
	}
	writer_putc(out, '"');
}

static void add_column_names(const struct table *table, struct writer *out)
{
	writer_puts(out, table->tree ? "depth," : "");
	for (size_t c = 0; c < table->column_count; c++) {
		if (c)
			writer_putc(out, ',');
		add_text(table->columns[c].name, out);
	}
	writer_puts(out, "\r\n");
}

static void add_rows(const struct table *table, struct writer *out)
{
	CLEANUP_STR struct str scratch = { 0 };
	struct table_walk walk;
	table_walk_init(&walk, table);
	while (table_walk_next(&walk)) {
		if (table->tree)
			writer_printf(out, "%zu,", walk.depth);
		for (size_t i = 0; i < table->column_count; i++) {
			str_clear(&scratch);
			struct cell cell = table->cell(table->context, walk.row, i, &scratch);
			if (i)
				writer_putc(out, ',');
			cell_escaped(&cell, CELL_FORM_DATA, add_text, out);
		}
		writer_puts(out, "\r\n");
	}
	table_walk_fini(&walk);
}

static void print(const struct results *results, struct writer *out)
{
	for (size_t t = 0; t < results->table_count; t++) {
		const struct table *table = &results->tables[t];
		writer_puts(out, t ? "\r\n" : "");
		add_column_names(table, out);
		add_rows(table, out);
	}
}

static void rows_begin(const struct results *results, struct writer *out)
{
	add_column_names(&results->tables[0], out);
}

static void rows_add(const struct table_column *columns, const struct cell *cells, size_t count, struct writer *out)
{
	for (size_t i = 0; i < count; i++) {
		if (i)
			writer_putc(out, ',');
		cell_escaped(&cells[i], CELL_FORM_DATA, add_text, out);
	}
	writer_puts(out, "\r\n");
}

static void rows_end(struct writer *out)
{
}

static const struct row_format rows = { .begin = rows_begin, .row = rows_add, .end = rows_end };

const struct format format_csv = { "csv", "a line for each row", print, &rows };
