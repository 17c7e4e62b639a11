#include "render/format/aligned.h"

#include "unit.h"

static size_t row_count(void *context, uint64_t parent)
{
	return parent == TABLE_TOP ? 2 : parent == 2 ? 1 : 0;
}

static uint64_t row_at(void *context, uint64_t parent, size_t index)
{
	return parent == TABLE_TOP ? 1 + index : 3;
}

static struct cell cell_at(void *context, uint64_t row, size_t column, struct str *scratch)
{
	static const char *const names[] = { "a", "longer", "x\ty" };
	const uint64_t *times = context;
	switch (column) {
	case 0:
		return cell_text(names[row - 1]);
	case 1:
		return cell_time(times[row - 1]);
	case 2:
		return (struct cell){ .kind = CELL_ABSENT };
	default:
		return row == 2 ? (struct cell){ .kind = CELL_ABSENT } : cell_count(row * 10);
	}
}

static const struct table_column columns[] = { { "name", "Name", NULL, CELL_TEXT }, { "t", "Time", "ns", CELL_TIME },
	{ "none", "None", NULL, CELL_COUNT }, { "n", "Calls", NULL, CELL_COUNT } };

static void expect_text(uint64_t *times, const char *expected)
{
	struct table table = { .columns = columns, .column_count = 4, .context = times, .row_count = row_count, .row = row_at,
		.cell = cell_at, .tree = true };
	struct writer out;
	writer_open(&out, -1, 64);
	aligned_print(&table, &out);
	writer_putc(&out, '\0');
	EXPECT_STR(out.buffer, expected);
	writer_fini(&out);
}

TEST("columns are as wide as their widest text, numbers are aligned right, rows below a row are indented, unused columns are left out")
{
	expect_text((uint64_t[]){ 5, 900, 77 },
		"Name    Time (ns)  Calls\n"
		"a               5     10\n"
		"longer        900      -\n"
		"  x?y          77     30\n");
}

TEST("times have the unit of the column's largest value")
{
	expect_text((uint64_t[]){ 5, 9999, 77 },
		"Name    Time (ns)  Calls\n"
		"a               5     10\n"
		"longer       9999      -\n"
		"  x?y          77     30\n");
	expect_text((uint64_t[]){ 500, 10000, 12345 },
		"Name    Time (us)  Calls\n"
		"a           0.500     10\n"
		"longer     10.000      -\n"
		"  x?y      12.345     30\n");
	expect_text((uint64_t[]){ 10000000, 0, 1 },
		"Name    Time (ms)  Calls\n"
		"a          10.000     10\n"
		"longer      0.000      -\n"
		"  x?y       0.000     30\n");
	expect_text((uint64_t[]){ 10000000000, 0, 1500000000 },
		"Name    Time (s)  Calls\n"
		"a         10.000     10\n"
		"longer     0.000      -\n"
		"  x?y      1.500     30\n");
}
