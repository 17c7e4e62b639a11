/* Rows of a table that is not stored, in memory for the terminal browser: a row format (analysis/table) whose text is bytes that
 * browse_rows_show reads again. */
#pragma once
#include "analysis/table/table.h"
#include "base/error.h"
#include "base/vec.h"

struct browse_screen;

/* Writes columns and rows as bytes of this program; lists and maps become texts. */
extern const struct row_format browse_rows;

/* BYTES: what a command stores at most. The browser copies the rows: that takes some seconds and some hundred megabytes. */
enum { BROWSE_ROWS_COLUMNS = 128, BROWSE_ROWS_BYTES = 96 << 20 };

/* The bytes as a table. Must not move; borrows the bytes. */
struct stored_rows {
	struct table table;
	struct table_column columns[BROWSE_ROWS_COLUMNS];
	VEC(const char *) rows;    /* where each begins */
	const char *end;
};

/* most: rows that are used. */
void stored_rows_open(struct stored_rows *stored, const struct writer *bytes, size_t most);
void stored_rows_close(struct stored_rows *stored);

/* Shows what browse_rows wrote to memory, as browse_table does. cut: more rows exist. < 0: the terminal cannot be used. */
int browse_rows_show(struct browse_screen *screen, const struct writer *bytes, bool cut, struct error *err);
/* The same on the screen of a writer, which is flushed first; where the terminal fails, the rows are written as CSV. */
void browse_rows_print(const struct writer *bytes, bool cut, struct writer *out);

