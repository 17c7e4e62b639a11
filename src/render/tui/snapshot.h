/* An immutable copy of a table with the rows below its rows and the tables of its rows (callers): what a screen shows while the analysis
 * continues in another thread. Every row has an identity: the same row of a later snapshot has the same one. */
#pragma once
#include "analysis/table/table.h"
#include "base/arena.h"

/* The index of the row above the top rows. */
enum { SNAPSHOT_TOP = 0 };

struct snapshot_row {
	uint64_t identity;        /* from the cells that are no measure, and the identity of the row above */
	uint32_t parent, first_child, child_count;
	uint32_t cells;           /* index of its first cell */
	uint32_t depth;           /* of top rows: 0 */
	bool detail;              /* a row of a row's own table: its columns are the detail columns */
};

struct snapshot_columns {
	struct table_column *items;
	size_t count;
};

struct snapshot {
	const char *name, *event; /* event "": unknown */
	uint64_t samples, period; /* facts of the table; 0: unknown */
	const char *facts;        /* the other facts as text: "lost 3, slices 12" */
	const char *label;        /* the event, or the name and facts of a table without one */
	struct snapshot_columns columns, details;
	VEC(struct snapshot_row) rows;
	VEC(struct cell) cells;
	uint64_t whole;           /* of the shares of detail rows */
	bool truncated;           /* rows below rows are missing: the limit was reached */
	struct arena arena;
	struct strtab texts;
};

/* most: rows of details; 0: no details. Never NULL. */
struct snapshot *snapshot_new(const struct table *table, size_t most);
void snapshot_free(struct snapshot *snapshot); /* NULL is allowed */

static inline const struct snapshot_columns *snapshot_columns_of(const struct snapshot *snapshot, uint32_t row)
{
	return snapshot->rows.items[row].detail ? &snapshot->details : &snapshot->columns;
}

static inline const struct cell *snapshot_cell(const struct snapshot *snapshot, uint32_t row, size_t column)
{
	return &snapshot->cells.items[snapshot->rows.items[row].cells + column];
}

/* A measure differs between two snapshots of one row; other columns identify the row. */
bool snapshot_is_measure(enum cell_kind kind);
/* Index of the first column of this kind, or with this name; SIZE_MAX: absent. */
size_t snapshot_column_of_kind(const struct snapshot_columns *columns, enum cell_kind kind);
size_t snapshot_column_named(const struct snapshot_columns *columns, const char *name);
/* The row itself, or the row that a row of details belongs to. */
static inline uint32_t snapshot_entry(const struct snapshot *snapshot, uint32_t row)
{
	while (snapshot->rows.items[row].detail)
		row = snapshot->rows.items[row].parent;
	return row;
}
