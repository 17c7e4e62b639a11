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
	return column ? (struct cell){ .kind = CELL_SHARE, .share = { 1, 8 } } : cell_text("a|<b>[x](y)\n`c`");
}

TEST("names cannot end a cell, begin a row or become links, numbers are right, and rows below a row are indented")
{
	static const struct table_column columns[] = { { .name = "symbol", .title = "Symbol", .kind = CELL_TEXT },
		{ .name = "delta", .unit = "ns", .kind = CELL_SHARE } };
	const struct table_fact facts[] = { { "event", cell_text("cpu-clock") }, { "samples", cell_count(12) } };
	struct table table = { .columns = columns, .column_count = 2, .row_count = row_count, .row = row_at, .cell = cell_at, .tree = true,
		.facts = facts, .fact_count = 2 };
	struct results results = { .tables = &table, .table_count = 1 };
	struct writer out;
	writer_open(&out, -1, 64);
	format_find("markdown", NULL)->print(&results, &out);
	writer_putc(&out, '\0');
	EXPECT_STR(out.buffer, "event cpu-clock, samples 12\n\n| Symbol | delta, ns |\n| --- | ---: |\n"
		"| a\\|\\<b\\>\\[x\\](y)?\\`c\\` | 12.50% |\n| &ensp; |  |\n");
	writer_fini(&out);
}

TEST("rows that are printed one by one follow the heading")
{
	static const struct table_column column = { .name = "n", .kind = CELL_COUNT };
	struct table table = { .columns = &column, .column_count = 1 };
	struct results results = { .tables = &table, .table_count = 1 };
	const struct row_format *rows = format_find("markdown", NULL)->rows;
	const struct cell cell = cell_count(7);
	struct writer out;
	writer_open(&out, -1, 64);
	rows->begin(&results, &out);
	rows->row(&column, &cell, 1, &out);
	rows->end(&out);
	writer_putc(&out, '\0');
	EXPECT_STR(out.buffer, "| n |\n| ---: |\n| 7 |\n");
	writer_fini(&out);
}
