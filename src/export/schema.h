/* The tables and views of an exported database, with the names and columns of perf's export scripts. Knows no sample and no database
 * library. Source: the statements of the databases that export-to-sqlite.py and export-to-postgresql.py of perf 6.12 make. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum export_dialect { DIALECT_SQLITE, DIALECT_POSTGRESQL };

enum export_table { TABLE_EVENTS, TABLE_MACHINES, TABLE_THREADS, TABLE_COMMS, TABLE_COMM_THREADS, TABLE_DSOS, TABLE_SYMBOLS,
	TABLE_BRANCH_TYPES, TABLE_SAMPLES, TABLE_CALL_PATHS, TABLE_CALLS, TABLE_PTWRITE, TABLE_CBR, TABLE_MWAIT, TABLE_PWRE, TABLE_EXSTOP,
	TABLE_PWRX, TABLE_SWITCHES, EXPORT_TABLES };

enum { EXPORT_COLUMNS_MAX = 25 };

struct schema {
	enum export_dialect dialect;
	bool branches;             /* samples without the columns that branches do not need */
	bool calls, callchains;    /* the tables of calls and of call paths */
};

bool schema_has(const struct schema *schema, enum export_table table);
const char *schema_table_name(enum export_table table);
/* The values of a row as its table is defined, including those that `branches` leaves out. */
size_t schema_columns(enum export_table table);
bool schema_has_column(const struct schema *schema, enum export_table table, size_t column);
/* Appends the statement that makes the table. */
void schema_add_table(const struct schema *schema, enum export_table table, struct str *sql);
/* Appends the statements that make all views. */
void schema_add_views(const struct schema *schema, struct str *sql);
/* Appends the statements for the end: indexes, the mark of comms with calls, and the removal of optional tables that have no row. */
void schema_add_end(const struct schema *schema, const bool has_rows[static EXPORT_TABLES], struct str *sql);
