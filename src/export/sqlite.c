/* A SQLite database in one open file. The library opens files by name: here the name is that of the descriptor, so that the file needs no
 * name of its own before it is complete. Tables that can have many rows are written as pages (sqlite_pages.h); the others are in memory, in
 * the attached database `small`, until the end, as the library would add pages to the file, too. */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "export/database.h"
#include "export/sqlite_pages.h"

struct sqlite {
	struct database base;
	sqlite3 *handle;
	sqlite3_vfs vfs;
	char vfs_name[32];
	struct insert {
		sqlite3_stmt *statement;
		size_t count, columns[EXPORT_COLUMNS_MAX]; /* the values that it takes, of all of a row */
		struct sqlite_rows *rows; /* instead of the statement */
	} inserts[EXPORT_TABLES];
	struct sqlite_pages pages;
};

/* Tables of integers whose rows arrive by id. A call ends before those that called it, whose id it may need. */
static bool is_large(enum export_table table)
{
	return table == TABLE_SAMPLES || table == TABLE_CALL_PATHS || table == TABLE_CALLS || table == TABLE_PTWRITE || table == TABLE_SWITCHES;
}

static int fail(struct sqlite *sqlite, struct error *err)
{
	int code = sqlite->handle ? sqlite3_errcode(sqlite->handle) : SQLITE_NOMEM;
	int sys = sqlite->handle ? sqlite3_system_errno(sqlite->handle) : 0;
	error_set(err, ERROR_SYSTEM, "cannot write the database: %s", sqlite->handle ? sqlite3_errmsg(sqlite->handle) : sqlite3_errstr(code));
	err->sys = sys;
	return -1;
}

static int execute(struct sqlite *sqlite, const char *sql, struct error *err)
{
	return sqlite3_exec(sqlite->handle, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(sqlite, err);
}

static void bind(sqlite3_stmt *insert, int at, const struct value *value)
{
	switch (value->kind) {
	case VALUE_INTEGER:
		sqlite3_bind_int64(insert, at, value->integer);
		return;
	case VALUE_REAL:
		sqlite3_bind_double(insert, at, value->real);
		return;
	case VALUE_TEXT:
		sqlite3_bind_text(insert, at, value->text, -1, SQLITE_STATIC);
		return;
	}
}

static void sqlite_add(struct database *base, enum export_table table, const struct value *values)
{
	struct sqlite *sqlite = (struct sqlite *)base;
	const struct insert *insert = &sqlite->inserts[table];
	if (insert->rows) {
		int64_t integers[EXPORT_COLUMNS_MAX];
		for (size_t i = 0; i < insert->count; i++)
			integers[i] = values[insert->columns[i]].integer;
		sqlite_rows_add(insert->rows, integers, &base->error);
		return;
	}
	for (size_t i = 0; i < insert->count; i++)
		bind(insert->statement, (int)i + 1, &values[insert->columns[i]]);
	if (sqlite3_step(insert->statement) != SQLITE_DONE)
		fail(sqlite, &base->error);
	sqlite3_reset(insert->statement);
}

static int sqlite_end(struct database *base, struct error *err)
{
	struct sqlite *sqlite = (struct sqlite *)base;
	CLEANUP_STR struct str sql = { 0 };
	for (unsigned table = 0; table < EXPORT_TABLES; table++) {
		sqlite3_finalize(sqlite->inserts[table].statement);
		sqlite->inserts[table].statement = NULL;
		if (sqlite->inserts[table].rows && sqlite_rows_end(sqlite->inserts[table].rows, err) < 0)
			return -1;
	}
	if (sqlite_pages_close(&sqlite->pages, err) < 0)
		return -1;
	for (unsigned table = 0; table < EXPORT_TABLES; table++) {
		const char *name = schema_table_name((enum export_table)table);
		if (schema_has(&base->schema, (enum export_table)table) && !is_large((enum export_table)table))
			str_printf(&sql, "INSERT INTO main.%s SELECT * FROM small.%s;", name, name);
	}
	/* the names of `small` would be found first */
	str_puts(&sql, "COMMIT; DETACH small; BEGIN;");
	schema_add_end(&base->schema, base->has_rows, &sql);
	str_puts(&sql, "COMMIT;");
	return execute(sqlite, str_text(&sql), err);
}

static void sqlite_close(struct database *base)
{
	struct sqlite *sqlite = (struct sqlite *)base;
	for (size_t table = 0; table < EXPORT_TABLES; table++) {
		sqlite3_finalize(sqlite->inserts[table].statement);
		sqlite_rows_free(sqlite->inserts[table].rows);
	}
	sqlite3_close(sqlite->handle);
	sqlite3_vfs_unregister(&sqlite->vfs);
	free(sqlite);
}

static const struct database_ops sqlite_ops = { .add = sqlite_add, .end = sqlite_end, .close = sqlite_close };

/* As it is: the name of a descriptor is a link to a file that need not have a name. */
static int full_name(sqlite3_vfs *vfs, const char *name, int size, char *full)
{
	(void)vfs;
	return snprintf(full, (size_t)size, "%s", name) < size ? SQLITE_OK : SQLITE_CANTOPEN;
}

/* SQLite opens no links, and the name of a descriptor is one. */
static int open_link(const char *name, int flags, mode_t mode)
{
	return open(name, flags & ~O_NOFOLLOW, mode);
}

static int open_handle(struct sqlite *sqlite, const char *name)
{
	sqlite3_vfs *vfs = &sqlite->vfs;
	sqlite3_syscall_ptr usual = vfs->xGetSystemCall(vfs, "open");
	vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)open_link);
	int code = sqlite3_open_v2(name, &sqlite->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, sqlite->vfs_name);
	vfs->xSetSystemCall(vfs, "open", usual);
	return code;
}

static int open_file(struct sqlite *sqlite, int fd, struct error *err)
{
	char name[32];
	const sqlite3_vfs *usual = sqlite3_vfs_find(NULL);
	if (!usual)
		return error_set(err, ERROR_UNSUPPORTED, "SQLite cannot open files on this system");
	sqlite->vfs = *usual;
	sqlite->vfs.pNext = NULL;
	sqlite->vfs.zName = sqlite->vfs_name;
	sqlite->vfs.xFullPathname = full_name;
	snprintf(sqlite->vfs_name, sizeof sqlite->vfs_name, "descriptor-%d", fd);
	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	sqlite3_vfs_register(&sqlite->vfs, 0);
	if (open_handle(sqlite, name) != SQLITE_OK)
		return fail(sqlite, err);
	/* a failed export is discarded: nothing needs to be undone or to survive a crash */
	CLEANUP_STR struct str sql = { 0 };
	str_printf(&sql, "PRAGMA page_size = %d; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536;"
		"ATTACH ':memory:' AS small;", SQLITE_PAGE_SIZE);
	return execute(sqlite, str_text(&sql), err);
}

static int make_tables(struct sqlite *sqlite, struct error *err)
{
	const struct schema *schema = &sqlite->base.schema;
	CLEANUP_STR struct str sql = { 0 };
	str_puts(&sql, "BEGIN;");
	for (unsigned number = 0; number < EXPORT_TABLES; number++) {
		enum export_table table = (enum export_table)number;
		if (!schema_has(schema, table))
			continue;
		const char *name = schema_table_name(table);
		schema_add_table(schema, table, &sql);
		if (!is_large(table))
			str_printf(&sql, "CREATE TABLE small.%s AS SELECT * FROM main.%s;", name, name);
	}
	schema_add_views(schema, &sql);
	str_puts(&sql, "COMMIT;");
	return execute(sqlite, str_text(&sql), err);
}

static int root_of(struct sqlite *sqlite, const char *table, uint32_t *root, struct error *err)
{
	sqlite3_stmt *query = NULL;
	if (sqlite3_prepare_v2(sqlite->handle, "SELECT rootpage FROM main.sqlite_master WHERE name = ?", -1, &query, NULL) != SQLITE_OK)
		return fail(sqlite, err);
	sqlite3_bind_text(query, 1, table, -1, SQLITE_STATIC);
	int found = sqlite3_step(query);
	*root = (uint32_t)sqlite3_column_int64(query, 0);
	sqlite3_finalize(query);
	return found == SQLITE_ROW ? 0 : fail(sqlite, err);
}

static int prepare_inserts(struct sqlite *sqlite, int fd, struct error *err)
{
	const struct schema *schema = &sqlite->base.schema;
	if (sqlite_pages_open(&sqlite->pages, fd, err) < 0)
		return -1;
	for (unsigned number = 0; number < EXPORT_TABLES; number++) {
		CLEANUP_STR struct str sql = { 0 };
		enum export_table table = (enum export_table)number;
		if (!schema_has(schema, table))
			continue;
		str_printf(&sql, "INSERT INTO small.%s VALUES (", schema_table_name(table));
		struct insert *insert = &sqlite->inserts[table];
		size_t columns = schema_columns(table);
		for (size_t i = 0; i < columns; i++) {
			if (!schema_has_column(schema, table, i))
				continue;
			insert->columns[insert->count++] = i;
			str_puts(&sql, insert->count > 1 ? ", ?" : "?");
		}
		str_putc(&sql, ')');
		if (is_large(table)) {
			uint32_t root = 0;
			if (root_of(sqlite, schema_table_name(table), &root, err) < 0)
				return -1;
			insert->rows = sqlite_rows_new(&sqlite->pages, root, insert->count, table == TABLE_CALLS);
			continue;
		}
		if (sqlite3_prepare_v2(sqlite->handle, str_text(&sql), -1, &insert->statement, NULL) != SQLITE_OK)
			return fail(sqlite, err);
	}
	return execute(sqlite, "BEGIN;", err); /* which reads nothing of the file yet, so that its pages can change */
}

struct database *database_sqlite(int fd, const struct schema *schema, struct error *err)
{
	struct sqlite *sqlite = memory_zero(1, sizeof *sqlite);
	sqlite->base.ops = &sqlite_ops;
	sqlite->base.schema = *schema;
	if (open_file(sqlite, fd, err) < 0 || make_tables(sqlite, err) < 0 || prepare_inserts(sqlite, fd, err) < 0) {
		sqlite_close(&sqlite->base);
		return NULL;
	}
	return &sqlite->base;
}
