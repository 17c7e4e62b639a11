/* Results as Markdown, for pull requests and wikis: a table of GitHub's dialect for each table, its facts above it. Rows below a row are
 * indented. Tables that belong to rows are left out. Texts are escaped: no name becomes a heading, a link or HTML. */
#include <inttypes.h>
#include <math.h>
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

static void add_json(const struct cell *cell, struct writer *out)
{
	struct writer text;
	writer_open(&text, -1, 256);
	cell_json(cell, &text);
	writer_putc(&text, '\0');
	add_text(text.buffer, out);
	writer_fini(&text);
}

static void add_place(const struct cell_place *place, struct writer *out)
{
	if (place->symbol)
		add_text(place->symbol, out);
	else
		writer_printf(out, "0x%" PRIx64, place->address);
}

static void add_cell(const struct cell *cell, struct writer *out)
{
	switch (cell->kind) {
	case CELL_COUNT:
	case CELL_BYTES:
	case CELL_TIME:
		writer_printf(out, "%" PRIu64, cell->count);
		break;
	case CELL_NUMBER:
		writer_printf(out, "%" PRId64, cell->number);
		break;
	case CELL_REAL:
		writer_printf(out, fabs(cell->real) < 1e15 ? "%.4f" : "%.6g", cell->real);
		break;
	case CELL_SHARE:
		writer_printf(out, "%.2f%%", 100 * cell_fraction(cell));
		break;
	case CELL_ADDRESS:
		writer_printf(out, "0x%" PRIx64, cell->count);
		break;
	case CELL_FLAG:
		writer_puts(out, cell->flag ? "yes" : "no");
		break;
	case CELL_TEXT:
		add_text(cell->text, out);
		break;
	case CELL_TASK:
		writer_printf(out, "%d ", cell->task.tid);
		add_text(cell->task.comm ? cell->task.comm : "", out);
		break;
	case CELL_PLACE:
		add_place(&cell->place, out);
		break;
	case CELL_FILE_ID:
		writer_printf(out, "%" PRIu64 ":%" PRIu64, cell->file_id.device, cell->file_id.inode);
		break;
	case CELL_LIST:
	case CELL_MAP:
		add_json(cell, out);
		break;
	default:
		break;
	}
}

static bool is_number(enum cell_kind kind)
{
	switch (kind) {
	case CELL_COUNT:
	case CELL_NUMBER:
	case CELL_REAL:
	case CELL_SHARE:
	case CELL_BYTES:
	case CELL_TIME:
	case CELL_ADDRESS:
		return true;
	default:
		return false;
	}
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
	for (size_t i = 0; i < table->column_count; i++)
		writer_puts(out, is_number(table->columns[i].kind) ? " ---: |" : " --- |");
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
