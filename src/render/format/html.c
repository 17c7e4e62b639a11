/* Results as a page for web browsers, which needs no other file and no network: a table of HTML for each table, its facts above it. Rows
 * are sorted by a click on a heading, and filtered by a text. Rows below a row are indented; a table that belongs to a row can be opened
 * below it. Texts are escaped, and the page's policy permits no script but its own. */
#include <string.h>

#include "base/xml_text.h"
#include "render/format/format.h"
#include "render/format/html_css.h"
#include "render/format/html_js.h"

/* A newline in a name begins no line of the page's text, by which tests and scripts read it. */
static void add_text(const char *text, struct writer *out)
{
	for (size_t len; *text; text += len) {
		len = strcspn(text, "\n");
		xml_text(out, text, len);
		if (text[len]) {
			writer_puts(out, "&#10;");
			len++;
		}
	}
}

static void add_value(const struct cell *cell, struct writer *out)
{
	cell_escaped(cell, CELL_FORM_DOCUMENT, add_text, out);
}

/* A number also has its exact value, by which rows are sorted, and a share a bar. */
static void begin_cell(const struct cell *cell, struct writer *out)
{
	char exact[CELL_VALUE_MAX];
	size_t length = cell_is_number(cell->kind) ? cell_value_text(cell, CELL_FORM_DATA, exact) : 0;
	if (length) {
		writer_printf(out, "<td class=\"number%s\" data-value=\"%.*s\"", cell->kind == CELL_SHARE ? " share" : "", (int)length, exact);
		if (cell->kind == CELL_SHARE)
			writer_printf(out, " style=\"--share:%.*s\"", (int)length, exact);
		writer_putc(out, '>');
	} else {
		writer_puts(out, cell->kind == CELL_ADDRESS ? "<td class=\"number\">" : "<td>");
	}
}

static void add_facts(const struct table_fact *facts, size_t count, struct writer *out)
{
	writer_puts(out, count ? "<dl>" : "");
	for (size_t i = 0; i < count; i++) {
		writer_puts(out, "<div><dt>");
		add_text(facts[i].name, out);
		writer_puts(out, "</dt><dd>");
		add_value(&facts[i].value, out);
		writer_puts(out, "</dd></div>");
	}
	writer_puts(out, count ? "</dl>\n" : "");
}

static void add_columns(const struct table *table, struct writer *out)
{
	writer_puts(out, "<table><thead><tr>");
	for (size_t i = 0; i < table->column_count; i++) {
		const struct table_column *column = &table->columns[i];
		writer_puts(out, cell_is_number(column->kind) || column->kind == CELL_ADDRESS ? "<th class=\"number\">" : "<th>");
		add_text(column->title && *column->title ? column->title + strspn(column->title, " ") : column->name, out);
		if (column->unit) {
			writer_puts(out, ", ");
			add_text(column->unit, out);
		}
		writer_puts(out, "</th>");
	}
	writer_puts(out, "</tr></thead><tbody>\n");
}

static void add_rows(const struct table *table, struct writer *out, bool details);

static void add_detail(const struct table *table, uint64_t row, struct writer *out)
{
	struct table detail;
	if (!table->detail || !table->detail(table->context, row, &detail))
		return;
	writer_printf(out, "<tr class=\"detail\"><td colspan=\"%zu\"><details><summary>", table->column_count);
	add_text(detail.name ? detail.name : "more", out);
	writer_puts(out, "</summary>");
	add_columns(&detail, out);
	add_rows(&detail, out, false);
	writer_puts(out, "</tbody></table></details></td></tr>\n");
}

static void add_rows(const struct table *table, struct writer *out, bool details)
{
	CLEANUP_STR struct str scratch = { 0 };
	struct table_walk walk;
	table_walk_init(&walk, table);
	while (table_walk_next(&walk)) {
		writer_printf(out, "<tr data-depth=\"%zu\">", walk.depth);
		for (size_t i = 0; i < table->column_count; i++) {
			str_clear(&scratch);
			struct cell cell = table->cell(table->context, walk.row, i, &scratch);
			begin_cell(&cell, out);
			for (size_t depth = walk.depth; i == 0 && depth; depth--)
				writer_puts(out, "&ensp;");
			add_value(&cell, out);
			writer_puts(out, "</td>");
		}
		writer_puts(out, "</tr>\n");
		if (details)
			add_detail(table, walk.row, out);
	}
	table_walk_fini(&walk);
}

static void begin_page(const struct results *results, struct writer *out)
{
	writer_puts(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" "
		"content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n<title>");
	add_text(results->schema ? results->schema : "perfuse", out);
	writer_puts(out, "</title>\n<style>\n");
	writer_puts(out, html_css);
	writer_puts(out, "</style></head><body>\n<h1>");
	add_text(results->schema ? results->schema : "perfuse", out);
	writer_puts(out, "</h1>\n");
	add_facts(results->facts, results->fact_count, out);
}

static void begin_table(const struct table *table, struct writer *out)
{
	writer_puts(out, "<section><h2>");
	add_text(table->name ? table->name : "", out);
	writer_puts(out, "</h2>\n");
	add_facts(table->facts, table->fact_count, out);
	writer_puts(out, "<input type=\"search\" placeholder=\"only rows with\" aria-label=\"only rows with\">\n");
	add_columns(table, out);
}

static void end_page(struct writer *out)
{
	writer_puts(out, "<script>\n");
	writer_puts(out, html_js);
	writer_puts(out, "</script></body></html>\n");
}

static void print(const struct results *results, struct writer *out)
{
	begin_page(results, out);
	for (size_t t = 0; t < results->table_count; t++) {
		begin_table(&results->tables[t], out);
		add_rows(&results->tables[t], out, true);
		writer_puts(out, "</tbody></table></section>\n");
	}
	end_page(out);
}

static void rows_begin(const struct results *results, struct writer *out)
{
	begin_page(results, out);
	begin_table(&results->tables[0], out);
}

static void rows_add(const struct table_column *columns, const struct cell *cells, size_t count, struct writer *out)
{
	writer_puts(out, "<tr data-depth=\"0\">");
	for (size_t i = 0; i < count; i++) {
		begin_cell(&cells[i], out);
		add_value(&cells[i], out);
		writer_puts(out, "</td>");
	}
	writer_puts(out, "</tr>\n");
}

static void rows_end(struct writer *out)
{
	writer_puts(out, "</tbody></table></section>\n");
	end_page(out);
}

static const struct row_format rows = { .begin = rows_begin, .row = rows_add, .end = rows_end };

const struct format format_html = { "html", "a page for web browsers", print, &rows };
