/* A result: named columns, and rows of typed cells, which may have rows below them. Cells are computed on request, so that a table needs
 * no memory beyond that of the analysis. Independent of formats: every renderer reads any table. */
#pragma once
#include <stddef.h>

#include "analysis/table/cell.h"
#include "base/str.h"
#include "base/vec.h"
#include "base/writer.h"

struct table_column {
	const char *name;     /* key in JSON, column name in CSV: "overhead", "dso" */
	const char *title;    /* heading: "Shared Object" */
	const char *unit;     /* "ns", "bytes", the name of an event; NULL: absent */
	enum cell_kind kind;  /* of all its cells that are not absent */
};

/* A value that describes the table: its event, its number of samples. */
struct table_fact {
	const char *name;
	struct cell value;
};

/* Rows are numbered by the analysis. TABLE_TOP is the parent of the top rows. */
#define TABLE_TOP ((uint64_t)0)

struct table {
	const char *name;     /* "entries", "callers" */
	const struct table_fact *facts;
	size_t fact_count;
	const struct table_column *columns;
	size_t column_count;
	bool tree;            /* rows may have rows below them */
	void *context;
	/* Return the number of rows below a row (below TABLE_TOP: the top rows), and the index-th of them. */
	size_t (*row_count)(void *context, uint64_t parent);
	uint64_t (*row)(void *context, uint64_t parent, size_t index);
	/* Returns a cell; *scratch stores texts that are made for it. */
	struct cell (*cell)(void *context, uint64_t row, size_t column, struct str *scratch);
	/* Fills *detail with a table that belongs to the row, such as its callers; valid until the next call. Returns false if the row
	 * has none. NULL: no row has one. */
	bool (*detail)(void *context, uint64_t row, struct table *detail);
};

/* `row` of a table without rows below rows, whose rows are numbered from 1 in their order. */
uint64_t table_row_in_order(void *context, uint64_t parent, size_t index);

/* A table with at most `most` rows below each row, without details. */
struct table_first {
	const struct table *table;
	size_t most;
};

/* *first and *table are borrowed by the result. */
struct table table_first(struct table_first *first, const struct table *table, size_t most);

/* The results of a command: its tables and the schema of their names (docs/formats.md). */
struct results {
	const char *schema;   /* "perfuse.report" */
	unsigned version;
	const struct table *tables;
	size_t table_count;
	const struct table_fact *facts;
	size_t fact_count;
};

/* Prints a table whose rows are not stored: row by row, in constant memory. Rows may be printed to several writers, by several threads;
 * the caller joins their texts in order. */
struct row_format {
	/* Prints the start of results with one table, of which only name, facts and columns are used. */
	void (*begin)(const struct results *results, struct writer *out);
	/* Prints a row; cells: one for each column. */
	void (*row)(const struct table_column *columns, const struct cell *cells, size_t count, struct writer *out);
	size_t separator;     /* the first bytes of a row that separate it from the row before; the caller removes them from the first row */
	void (*end)(struct writer *out);
};

/* Iterates over the rows of a table, parents first. Uses memory for one struct table_level per level. */
struct table_level {
	uint64_t parent;
	size_t next, count;
};

struct table_walk {
	const struct table *table;
	VEC(struct table_level) levels;
	bool begun;
	uint64_t row;         /* the current row */
	size_t depth;         /* number of its ancestors */
};

void table_walk_init(struct table_walk *walk, const struct table *table);
void table_walk_fini(struct table_walk *walk);
/* Moves to the next row; returns false after the last. */
bool table_walk_next(struct table_walk *walk);
