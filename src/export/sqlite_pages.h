/* The rows of a table of a SQLite file as pages, which are written in the order of row ids: several times faster than INSERT. The first
 * column is the INTEGER PRIMARY KEY. Source: sqlite.org/fileformat2.html, b-tree pages and record format. Knows no schema: the table exists
 * in the file, and its root page is empty. */
#pragma once
#include "base/error.h"
#include "export/database.h"

enum { SQLITE_PAGE_SIZE = 16384 };

struct sqlite_pages {
	int fd;
	uint32_t count;            /* pages of the file so far */
};

/* Pages that a file has after its tables were made; fd is borrowed. */
int sqlite_pages_open(struct sqlite_pages *pages, int fd, struct error *err);
/* Writes the number of pages into the file's header. After all tables have ended. */
int sqlite_pages_close(struct sqlite_pages *pages, struct error *err);

struct sqlite_rows;

/* late: an id that is left out may follow later; its space is reserved. columns: integers; at most EXPORT_COLUMNS_MAX. */
struct sqlite_rows *sqlite_rows_new(struct sqlite_pages *pages, uint32_t root, size_t columns, bool late);
void sqlite_rows_free(struct sqlite_rows *rows); /* accepts NULL */
/* values: the first is the id; ids grow, except late ones. */
int sqlite_rows_add(struct sqlite_rows *rows, const int64_t *values, struct error *err);
int sqlite_rows_end(struct sqlite_rows *rows, struct error *err);
