#include <string.h>

#include "render/format/format.h"

#include "unit.h"

static size_t row_count(void *context, uint64_t parent)
{
	return parent < 2;
}

static uint64_t row_at(void *context, uint64_t parent, size_t index)
{
	return parent + 1;
}

static struct cell cell_at(void *context, uint64_t row, size_t column, struct str *scratch)
{
	if (row == 2)
		return (struct cell){ .kind = CELL_ABSENT };
	return column ? (struct cell){ .kind = CELL_SHARE, .share = { 1, 8 } } : cell_text("</td>\n<script>\"a\"&");
}

static const struct table_column columns[] = { { .name = "symbol", .title = "Symbol", .kind = CELL_TEXT },
	{ .name = "delta", .unit = "ns", .kind = CELL_SHARE } };

static bool detail_of(void *context, uint64_t row, struct table *detail)
{
	*detail = (struct table){ .name = "callers", .columns = columns, .column_count = 1, .row_count = row_count, .row = row_at,
		.cell = cell_at };
	return row == 1;
}

/* The part of a page between the start of its first element `from` and the script. */
static char *body_of(const struct results *results, const char *from)
{
	static char text[20000];
	struct writer out;
	writer_open(&out, -1, 64);
	format_find("html", NULL)->print(results, &out);
	writer_putc(&out, '\0');
	const char *start = strstr(out.buffer, from), *end = strstr(out.buffer, "<script>\n");
	snprintf(text, sizeof text, "%.*s", start && end ? (int)(end - start) : 0, start);
	writer_fini(&out);
	return text;
}

TEST("a page has facts, headings, numbers with their exact value, rows below rows; names remain text")
{
	const struct table_fact facts[] = { { "event", cell_text("cpu-clock") }, { "samples", cell_count(12) } };
	struct table table = { .name = "entries", .columns = columns, .column_count = 2, .row_count = row_count, .row = row_at, .cell = cell_at,
		.tree = true, .facts = facts, .fact_count = 2 };
	EXPECT_STR(body_of(&(struct results){ .tables = &table, .table_count = 1 }, "<section>"),
		"<section><h2>entries</h2>\n<dl><div><dt>event</dt><dd>cpu-clock</dd></div><div><dt>samples</dt><dd>12</dd></div></dl>\n"
		"<input type=\"search\" placeholder=\"only rows with\" aria-label=\"only rows with\">\n"
		"<table><thead><tr><th>Symbol</th><th class=\"number\">delta, ns</th></tr></thead><tbody>\n"
		"<tr data-depth=\"0\"><td>&lt;/td&gt;&#10;&lt;script&gt;&quot;a&quot;&amp;</td>"
		"<td class=\"number share\" data-value=\"0.125\" style=\"--share:0.125\">12.50%</td></tr>\n"
		"<tr data-depth=\"1\"><td>&ensp;</td><td></td></tr>\n</tbody></table></section>\n");
}

TEST("the table that belongs to a row is below it")
{
	struct table table = { .name = "entries", .columns = columns, .column_count = 1, .row_count = row_count, .row = row_at, .cell = cell_at,
		.detail = detail_of };
	EXPECT_STR(body_of(&(struct results){ .tables = &table, .table_count = 1 }, "<tr class"),
		"<tr class=\"detail\"><td colspan=\"1\"><details><summary>callers</summary>"
		"<table><thead><tr><th>Symbol</th></tr></thead><tbody>\n"
		"<tr data-depth=\"0\"><td>&lt;/td&gt;&#10;&lt;script&gt;&quot;a&quot;&amp;</td></tr>\n"
		"</tbody></table></details></td></tr>\n</tbody></table></section>\n");
}

TEST("rows that are printed one by one make the same page")
{
	static const struct table_column column = { .name = "n", .kind = CELL_COUNT };
	struct table table = { .name = "samples", .columns = &column, .column_count = 1 };
	struct results results = { .schema = "perfuse.script", .tables = &table, .table_count = 1 };
	const struct row_format *rows = format_find("html", NULL)->rows;
	const struct cell cell = cell_count(7);
	struct writer out;
	writer_open(&out, -1, 64);
	rows->begin(&results, &out);
	rows->row(&column, &cell, 1, &out);
	rows->end(&out);
	writer_putc(&out, '\0');
	EXPECT(strstr(out.buffer, "<title>perfuse.script</title>") != NULL);
	EXPECT(strstr(out.buffer, "<tr data-depth=\"0\"><td class=\"number\" data-value=\"7\">7</td></tr>\n"
		"</tbody></table></section>\n<script>") != NULL);
	EXPECT(strstr(out.buffer, "</script></body></html>\n") != NULL);
	writer_fini(&out);
}
