#include "cmd/browse_rows.h"

#include <string.h>

#include "unit.h"

static const struct table_column columns[] = { { "comm", "Command", NULL, CELL_TASK }, { "period", "Period", "ns", CELL_COUNT },
	{ "symbol", NULL, NULL, CELL_PLACE }, { "flags", "Flags", NULL, CELL_LIST } };
enum { COLUMNS = sizeof columns / sizeof *columns };

static void add_row(struct writer *out, const char *comm, uint64_t period, const char *symbol)
{
	const struct cell flags[] = { cell_text("jcc"), cell_count(2) };
	const struct cell cells[COLUMNS] = { { .kind = CELL_TASK, .task = { 7, comm } }, cell_count(period),
		symbol ? (struct cell){ .kind = CELL_PLACE, .place = { .symbol = symbol, .address = 0x40, .level = 'k' } } : cell_absent(),
		cell_list(flags, period == 1 ? 2 : 0) };
	browse_rows.row(columns, cells, COLUMNS, out);
}

TEST("rows are read as they were written, by several writers that are joined; lists become texts")
{
	struct writer first, second;
	struct stored_rows stored;
	struct str scratch = { 0 };
	const struct table table = { .name = "samples", .columns = columns, .column_count = COLUMNS };
	writer_open(&first, -1, 0);
	writer_open(&second, -1, 0);
	browse_rows.begin(&(struct results){ .tables = &table, .table_count = 1 }, &first);
	add_row(&first, "cc1", 1, "main");
	add_row(&second, "", UINT64_MAX, NULL);
	writer_add(&first, second.buffer, second.len);
	stored_rows_open(&stored, &first, SIZE_MAX);
	const struct table *read = &stored.table;
	EXPECT_STR(read->name, "samples");
	EXPECT_INT(read->column_count, COLUMNS);
	EXPECT_STR(read->columns[1].unit, "ns");
	EXPECT(!read->columns[2].title && read->columns[3].kind == CELL_LIST);
	EXPECT_INT(read->row_count(read->context, TABLE_TOP), 2);
	uint64_t row = read->row(read->context, TABLE_TOP, 0), next = read->row(read->context, TABLE_TOP, 1);
	struct cell cell = read->cell(read->context, row, 0, &scratch);
	EXPECT(cell.kind == CELL_TASK && cell.task.tid == 7);
	EXPECT_STR(cell.task.comm, "cc1");
	cell = read->cell(read->context, row, 2, &scratch);
	EXPECT_STR(cell.place.symbol, "main");
	EXPECT(!cell.place.module && cell.place.address == 0x40 && cell.place.level == 'k');
	cell = read->cell(read->context, row, 3, &scratch);
	EXPECT_INT(cell.kind, CELL_TEXT);
	EXPECT_STR(cell.text, "jcc 2");
	EXPECT_STR(read->cell(read->context, next, 0, &scratch).task.comm, "");
	EXPECT(read->cell(read->context, next, 1, &scratch).count == UINT64_MAX);
	EXPECT_INT(read->cell(read->context, next, 2, &scratch).kind, CELL_ABSENT);
	EXPECT_STR(read->cell(read->context, next, 3, &scratch).text, "");
	stored_rows_close(&stored);
	writer_fini(&first);
	writer_fini(&second);
}

TEST("nothing written is a table without columns and rows")
{
	struct stored_rows stored;
	stored_rows_open(&stored, &(struct writer){ .fd = -1 }, SIZE_MAX);
	EXPECT_INT(stored.table.column_count, 0);
	EXPECT_INT(stored.table.row_count(stored.table.context, TABLE_TOP), 0);
	stored_rows_close(&stored);
}
