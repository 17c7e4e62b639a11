#include "render/format/format.h"

#include <string.h>

#include "unit.h"

static size_t row_count(void *context, uint64_t parent)
{
	return parent == TABLE_TOP ? 2 : parent == 1 ? 1 : 0;
}

static uint64_t row_at(void *context, uint64_t parent, size_t index)
{
	return parent == TABLE_TOP ? index + 1 : 3;
}

static struct cell cell_at(void *context, uint64_t row, size_t column, struct str *scratch)
{
	if (column)
		return row == 2 ? (struct cell){ .kind = CELL_ABSENT } : (struct cell){ .kind = CELL_SHARE, .share = { row, 4 } };
	str_printf(scratch, "row \"%d\"", (int)row);
	return cell_text(str_text(scratch));
}

static bool detail_of(void *context, uint64_t row, struct table *detail)
{
	*detail = *(const struct table *)context;
	detail->detail = NULL;
	detail->tree = false;
	detail->name = "below";
	return row == 2;
}

static char *printed(bool tree)
{
	static char text[1024];
	static const struct table_column columns[] = { { "name", "Name", NULL, CELL_TEXT }, { "part", "Part", "x", CELL_SHARE } };
	const struct table_fact fact = { "total", cell_count(UINT64_MAX) };
	struct table table = { .name = "t", .facts = &fact, .fact_count = 1, .columns = columns, .column_count = 2, .row_count = row_count,
		.row = row_at, .cell = cell_at, .tree = tree };
	if (tree)
		table.detail = detail_of;
	table.context = &table;
	struct results results = { .schema = "s", .version = 3, .tables = &table, .table_count = 1 };
	struct writer out;
	writer_open(&out, -1, 64);
	format_find("json", NULL)->print(&results, &out);
	size_t len = 0;
	for (size_t i = 0; i < out.len && len + 1 < sizeof text; i++)
		if (out.buffer[i] != '\n')
			text[len++] = out.buffer[i];
	text[len] = '\0';
	writer_fini(&out);
	return text;
}

#define HEAD "{\"schema\":\"s\",\"version\":3,\"facts\":{},\"tables\":[{\"name\":\"t\",\"facts\":{\"total\":18446744073709551615}," \
	"\"columns\":[{\"name\":\"name\",\"title\":\"Name\",\"kind\":\"text\"}," \
	"{\"name\":\"part\",\"title\":\"Part\",\"kind\":\"share\",\"unit\":\"x\"}],\"rows\":["

TEST("a list has its columns described, then a row each")
{
	EXPECT_STR(printed(false), HEAD "{\"name\":\"row \\\"1\\\"\",\"part\":0.25},{\"name\":\"row \\\"2\\\"\",\"part\":null}]}]}");
}

TEST("rows of a tree are a list with depths; a row's own table is a list below its name")
{
	EXPECT_STR(printed(true), HEAD "{\"depth\":0,\"name\":\"row \\\"1\\\"\",\"part\":0.25},"
		"{\"depth\":1,\"name\":\"row \\\"3\\\"\",\"part\":0.75},"
		"{\"depth\":0,\"name\":\"row \\\"2\\\"\",\"part\":null,\"below\":["
		"{\"name\":\"row \\\"1\\\"\",\"part\":0.25},{\"name\":\"row \\\"2\\\"\",\"part\":null}]}]}]}");
}

TEST("each kind of value has its form")
{
	const struct cell cells[] = {
		cell_count(7), cell_number(-7), { .kind = CELL_REAL, .real = 0.5 }, { .kind = CELL_BYTES, .count = 4096 },
		{ .kind = CELL_TIME, .count = 12 }, { .kind = CELL_ADDRESS, .count = 0xffffffff81000000 }, cell_flag(true), cell_text("a"),
		cell_text(NULL), { .kind = CELL_TASK, .task = { 12, "sh" } }, { .kind = CELL_FILE_ID, .file_id = { 1, 2 } },
		{ .kind = CELL_PLACE, .place = { .address = 16, .symbol = "f", .offset = 3, .module = "m", .level = '.' } },
		{ .kind = CELL_PLACE, .place = { .address = 0, .symbol = "g", .inlined = true, .line = "a.c:1" } },
		{ .kind = CELL_SHARE, .share = { 0, 0 } },
	};
	enum { CELLS = sizeof cells / sizeof *cells };
	struct table_fact facts[CELLS];
	struct results results = { .schema = "s", .version = 1, .facts = facts, .fact_count = CELLS };
	struct writer out;
	for (size_t i = 0; i < CELLS; i++)
		facts[i] = (struct table_fact){ "f", cells[i] };
	writer_open(&out, -1, 64);
	format_find("json", NULL)->print(&results, &out);
	writer_putc(&out, '\0');
	EXPECT_STR(out.buffer, "{\"schema\":\"s\",\"version\":1,\n\"facts\":{\"f\":7,\"f\":-7,\"f\":0.5,\"f\":4096,\"f\":12,"
		"\"f\":\"0xffffffff81000000\",\"f\":true,\"f\":\"a\",\"f\":null,\"f\":{\"tid\":12,\"comm\":\"sh\"},"
		"\"f\":{\"device\":1,\"inode\":2},"
		"\"f\":{\"address\":\"0x10\",\"symbol\":\"f\",\"offset\":3,\"module\":\"m\",\"level\":\".\"},"
		"\"f\":{\"address\":\"0x0\",\"symbol\":\"g\",\"module\":null,\"inlined\":true,\"line\":\"a.c:1\"},\"f\":0},\n\"tables\":[]}\n");
	writer_fini(&out);
}

TEST("lists and maps hold values of any kind, also lists and maps")
{
	const struct cell numbers[] = { cell_count(1), cell_text(NULL) };
	const struct cell list = { .kind = CELL_LIST, .list = { numbers, 2 } }, empty = { .kind = CELL_LIST };
	const struct cell_entry entries[] = { { "a", list }, { "b\"", cell_text("c\n") }, { "d", { .kind = CELL_MAP } }, { "e", empty } };
	const struct cell map = { .kind = CELL_MAP, .map = { entries, 4 } };
	struct writer out;
	writer_open(&out, -1, 64);
	cell_json(&map, &out);
	writer_putc(&out, '\0');
	EXPECT_STR(out.buffer, "{\"a\":[1,null],\"b\\\"\":\"c\\n\",\"d\":{},\"e\":[]}");
	writer_fini(&out);
}

TEST("rows that are printed one by one make the document of the table that has them")
{
	static const struct table_column columns[] = { { "n", "N", NULL, CELL_COUNT } };
	struct table table = { .name = "t", .columns = columns, .column_count = 1 };
	struct results results = { .schema = "s", .version = 1, .tables = &table, .table_count = 1 };
	const struct row_format *rows = format_find("json", NULL)->rows;
	struct writer out, row;
	writer_open(&out, -1, 64);
	writer_open(&row, -1, 64);
	rows->begin(&results, &out);
	for (uint64_t i = 0; i < 2; i++) {
		struct cell cell = cell_count(i);
		row.len = 0;
		rows->row(columns, &cell, 1, &row);
		writer_add(&out, row.buffer + (i ? 0 : rows->separator), row.len - (i ? 0 : rows->separator));
	}
	rows->end(&out);
	writer_putc(&out, '\0');
	EXPECT_STR(out.buffer, "{\"schema\":\"s\",\"version\":1,\n\"facts\":{},\n\"tables\":[\n{\"name\":\"t\",\n\"facts\":{},\n"
		"\"columns\":[\n{\"name\":\"n\",\"title\":\"N\",\"kind\":\"count\"}],\n\"rows\":[\n{\"n\":0},\n{\"n\":1}]}]}\n");
	writer_fini(&out);
	writer_fini(&row);
}
