/* Results as Markdown, for pull requests and wikis: a table of GitHub's dialect for each table, its facts above it. Rows below a row are
 * indented. Tables that belong to rows are left out. Texts are escaped: no name becomes a heading, a link or HTML. */
#include <string.h>

#include "render/format/format.h"

static void add_text(const char *text, struct writer *out)
{
	static const char special[] = "\\`*_[]<>|~&#";
	for (size_t len; *text; text += len) {
		len = strcspn(text, special);
		writer_name(out, text, len);
		if (text[len]) {
			writer_putc(out, '\\');
			writer_putc(out, text[len++]);
		}
	}
}

static void add_cell(const struct cell *cell, struct writer *out)
{
	cell_escaped(cell, CELL_FORM_DOCUMENT, add_text, out);
}

static void add_columns(const struct table *table, struct writer *out)
{
	for (size_t i = 0; i < table->column_count; i++) {
		const struct table_column *column = &table->columns[i];
		writer_puts(out, i ? " " : "| ");
		add_text(column->title && *column->title ? column->title + strspn(column->title, " ") : column->name, out);
		if (column->unit) {
			writer_puts(out, ", ");
			add_text(column->unit, out);
		}
		writer_puts(out, " |");
	}
	writer_puts(out, "\n|");
	for (size_t i = 0; i < table->column_count; i++) {
		enum cell_kind kind = table->columns[i].kind;
		writer_puts(out, cell_is_number(kind) || kind == CELL_ADDRESS ? " ---: |" : " --- |");
	}
	writer_putc(out, '\n');
}

static void add_facts(const struct table_fact *facts, size_t count, struct writer *out)
{
	for (size_t i = 0; i < count; i++) {
		writer_puts(out, i ? ", " : "");
		add_text(facts[i].name, out);
		writer_puts(out, " ");
		add_cell(&facts[i].value, out);
	}
	writer_puts(out, count ? "\n\n" : "");
}

static void add_rows(const struct table *table, struct writer *out)
{
	CLEANUP_STR struct str scratch = { 0 };
	struct table_walk walk;
	table_walk_init(&walk, table);
	while (table_walk_next(&walk)) {
		writer_putc(out, '|');
		for (size_t i = 0; i < table->column_count; i++) {
			str_clear(&scratch);
			struct cell cell = table->cell(table->context, walk.row, i, &scratch);
			writer_putc(out, ' ');
			for (size_t depth = walk.depth; i == 0 && depth; depth--)
				writer_puts(out, "&ensp;");
			add_cell(&cell, out);
			writer_puts(out, " |");
		}
		writer_putc(out, '\n');
	}
	table_walk_fini(&walk);
}

static void print(const struct results *results, struct writer *out)
{
	add_facts(results->facts, results->fact_count, out);
	for (size_t t = 0; t < results->table_count; t++) {
		const struct table *table = &results->tables[t];
		writer_puts(out, t ? "\n" : "");
		add_facts(table->facts, table->fact_count, out);
		add_columns(table, out);
		add_rows(table, out);
	}
}

static void rows_begin(const struct results *results, struct writer *out)
{
	add_facts(results->facts, results->fact_count, out);
	add_columns(&results->tables[0], out);
}

static void rows_add(const struct table_column *columns, const struct cell *cells, size_t count, struct writer *out)
{
	writer_putc(out, '|');
	for (size_t i = 0; i < count; i++) {
		writer_putc(out, ' ');
		add_cell(&cells[i], out);
		writer_puts(out, " |");
	}
	writer_putc(out, '\n');
}

static void rows_end(struct writer *out)
{
}

static const struct row_format rows = { .begin = rows_begin, .row = rows_add, .end = rows_end };

const struct format format_markdown = { "markdown", "a table for pull requests", print, &rows };
