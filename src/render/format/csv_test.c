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
	static const char *const texts[] = { "plain", "with, comma", "with \"quotes\"", "two\nlines" };
	return row == 2 ? (struct cell){ .kind = CELL_ABSENT } : cell_text(texts[column]);
}

TEST("cells with commas and quotes are quoted, names stay in their line, absent ones are empty; rows of a tree have a depth")
{
	static const struct table_column columns[] = { { .name = "a" }, { .name = "b" }, { .name = "c" }, { .name = "d,e" } };
	struct table table = { .columns = columns, .column_count = 4, .row_count = row_count, .row = row_at, .cell = cell_at, .tree = true };
	struct results results = { .tables = &table, .table_count = 1 };
	struct writer out;
	writer_open(&out, -1, 64);
	format_find("csv", NULL)->print(&results, &out);
	writer_putc(&out, '\0');
	EXPECT_STR(out.buffer, "depth,a,b,c,\"d,e\"\r\n0,plain,\"with, comma\",\"with \"\"quotes\"\"\",\"two?lines\"\r\n1,,,,\r\n");
	writer_fini(&out);
}

TEST("tables are apart by an empty line")
{
	static const struct table_column column = { .name = "n" };
	struct table tables[2];
	for (size_t i = 0; i < 2; i++)
		tables[i] = (struct table){ .columns = &column, .column_count = 1, .row_count = row_count, .row = row_at, .cell = cell_at };
	struct results results = { .tables = tables, .table_count = 2 };
	struct writer out;
	writer_open(&out, -1, 64);
	format_find("csv", NULL)->print(&results, &out);
	writer_putc(&out, '\0');
	EXPECT_STR(out.buffer, "n\r\nplain\r\n\r\nn\r\nplain\r\n");
	writer_fini(&out);
}

TEST("rows that are printed one by one follow a line of names; lists and maps are JSON in quotes")
{
	static const struct table_column columns[] = { { .name = "n" }, { .name = "list" } };
	struct table table = { .columns = columns, .column_count = 2 };
	struct results results = { .tables = &table, .table_count = 1 };
	const struct cell items[] = { cell_count(1), cell_text("a") };
	const struct cell cells[] = { cell_count(7), { .kind = CELL_LIST, .list = { items, 2 } } };
	const struct row_format *rows = format_find("csv", NULL)->rows;
	struct writer out;
	writer_open(&out, -1, 64);
	rows->begin(&results, &out);
	rows->row(columns, cells, 2, &out);
	rows->end(&out);
	writer_putc(&out, '\0');
	EXPECT_STR(out.buffer, "n,list\r\n7,\"[1,\"\"a\"\"]\"\r\n");
	writer_fini(&out);
}
