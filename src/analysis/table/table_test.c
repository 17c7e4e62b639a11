#include "analysis/table/table.h"

#include "unit.h"

/* The rows below row n are 2n and 2n + 1 if they are at most `context`. */
static size_t rows_below(void *context, uint64_t parent)
{
	uint64_t most = *(const uint64_t *)context, first = parent ? 2 * parent : 1;
	return first > most ? 0 : !parent || first == most ? 1 : 2;
}

static uint64_t row_below(void *context, uint64_t parent, size_t index)
{
	return parent ? 2 * parent + index : 1;
}

static char *walk_table(const struct table *table)
{
	static char text[256];
	struct table_walk walk;
	size_t len = 0;
	text[0] = '\0';
	table_walk_init(&walk, table);
	while (table_walk_next(&walk))
		len += (size_t)snprintf(text + len, sizeof text - len, "%d.%zu ", (int)walk.row, walk.depth);
	table_walk_fini(&walk);
	return text;
}

static char *walk_as_text(uint64_t most, bool tree)
{
	return walk_table(&(struct table){ .context = &most, .row_count = rows_below, .row = row_below, .tree = tree });
}

static struct cell number_of_row(void *context, uint64_t row, size_t column, struct str *scratch)
{
	return cell_number((int64_t)(row + column + *(const uint64_t *)context));
}

TEST("iterating over a tree gives parents before children, with their depth")
{
	EXPECT_STR(walk_as_text(7, true), "1.0 2.1 4.2 5.2 3.1 6.2 7.2 ");
	EXPECT_STR(walk_as_text(4, true), "1.0 2.1 4.2 3.1 ");
	EXPECT_STR(walk_as_text(0, true), "");
}

TEST("iterating over a table that is not a tree gives the top rows only")
{
	EXPECT_STR(walk_as_text(7, false), "1.0 ");
}

TEST("rows in order have the numbers from 1, none of which is that of the top")
{
	EXPECT_INT(table_row_in_order(NULL, TABLE_TOP, 0), 1);
	EXPECT_INT(table_row_in_order(NULL, TABLE_TOP, 6), 7);
}

TEST("the first rows of a table are those of its rows, with their cells, below each row")
{
	uint64_t most = 7;
	struct table_first first;
	const struct table whole = { .context = &most, .row_count = rows_below, .row = row_below, .cell = number_of_row, .tree = true };
	struct table table = table_first(&first, &whole, 1);
	EXPECT_STR(walk_table(&table), "1.0 2.1 4.2 ");
	EXPECT_INT(table.cell(table.context, 4, 2, NULL).number, 13);
	table = table_first(&first, &whole, 2);
	EXPECT_STR(walk_table(&table), "1.0 2.1 4.2 5.2 3.1 6.2 7.2 ");
}
