#include "export/sqlite_pages.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit.h"

static const int64_t samples[] = { 0, 1, -1, 127, 128, -128, -129, 32767, 32768, 8388607, 8388608, INT32_MAX, (int64_t)INT32_MAX + 1,
	(1ll << 47) - 1, 1ll << 47, -(1ll << 47), INT64_MAX, INT64_MIN };
enum { SAMPLES = sizeof samples / sizeof *samples, COLUMNS = 4 };

struct file {
	char name[64];
	int fd;
	sqlite3 *handle;
	struct sqlite_pages pages;
	struct sqlite_rows *rows;
};

/* A value of a row: a function of its id. */
static int64_t value_at(int64_t id, size_t column)
{
	return samples[((uint64_t)id * 7 + column * 5) % SAMPLES] ^ (column == 2 ? id : 0);
}

static void file_make(struct file *file, bool late)
{
	struct error err = { 0 };
	char pragma[64];
	snprintf(file->name, sizeof file->name, "/tmp/sqlite_pages_test.XXXXXX");
	file->fd = mkstemp(file->name);
	sqlite3_open(file->name, &file->handle);
	snprintf(pragma, sizeof pragma, "PRAGMA page_size = %d", SQLITE_PAGE_SIZE);
	sqlite3_exec(file->handle, pragma, NULL, NULL, NULL);
	static const char sql[] = "CREATE TABLE t (id integer NOT NULL PRIMARY KEY, a bigint, b bigint, c integer)";
	EXPECT_INT(sqlite3_exec(file->handle, sql, NULL, NULL, NULL), 0);
	EXPECT_INT(sqlite_pages_open(&file->pages, file->fd, &err), 0);
	file->rows = sqlite_rows_new(&file->pages, 2, COLUMNS, late);
}

static int add(struct file *file, int64_t id)
{
	struct error err = { 0 };
	int64_t values[COLUMNS] = { id };
	for (size_t i = 1; i < COLUMNS; i++)
		values[i] = value_at(id, i);
	return sqlite_rows_add(file->rows, values, &err);
}

static char *text_of(struct file *file, const char *query)
{
	static char text[64];
	sqlite3_stmt *statement = NULL;
	snprintf(text, sizeof text, "%s", "failed");
	if (sqlite3_prepare_v2(file->handle, query, -1, &statement, NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
		snprintf(text, sizeof text, "%s", (const char *)sqlite3_column_text(statement, 0));
	sqlite3_finalize(statement);
	return text;
}

/* All rows, in the order of ids; returns their number. */
static size_t check(struct file *file)
{
	struct error err = { 0 };
	EXPECT_INT(sqlite_rows_end(file->rows, &err), 0);
	EXPECT_INT(sqlite_pages_close(&file->pages, &err), 0);
	EXPECT_STR(text_of(file, "PRAGMA integrity_check"), "ok");
	sqlite3_stmt *statement = NULL;
	sqlite3_prepare_v2(file->handle, "SELECT * FROM t", -1, &statement, NULL);
	size_t count = 0, wrong = 0;
	int64_t last = -1;
	while (sqlite3_step(statement) == SQLITE_ROW) {
		int64_t id = sqlite3_column_int64(statement, 0);
		wrong += id <= last;
		for (size_t i = 1; i < COLUMNS; i++)
			wrong += sqlite3_column_int64(statement, (int)i) != value_at(id, i);
		last = id;
		count++;
	}
	sqlite3_finalize(statement);
	EXPECT_INT(wrong, 0);
	return count;
}

static void file_drop(struct file *file)
{
	sqlite_rows_free(file->rows);
	sqlite3_close(file->handle);
	close(file->fd);
	unlink(file->name);
}

TEST("a table has all rows, whether they need no page, one page or several levels of pages")
{
	/* some 500 rows fit in a page, some 1700 pages in the page above */
	static const int64_t counts[] = { 0, 1, 2, 300, 800, 100000, 1300000 };
	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		struct file file;
		file_make(&file, false);
		for (int64_t id = 0; id < counts[i]; id++)
			EXPECT_INT(add(&file, id), 0);
		EXPECT_INT(check(&file), counts[i]);
		file_drop(&file);
	}
}

TEST("ids may have gaps of each size")
{
	struct file file;
	file_make(&file, false);
	for (unsigned i = 0; i < 60; i++)
		EXPECT_INT(add(&file, 1ll << i), 0);
	EXPECT_INT(add(&file, INT64_MAX), 0);
	EXPECT_INT(check(&file), 61);
	file_drop(&file);
}

TEST("rows that come late are in the place of their ids")
{
	struct file file;
	file_make(&file, true);
	for (int64_t id = 0; id < 40000; id++)
		if (id % 3)
			EXPECT_INT(add(&file, id), 0);
	for (int64_t id = 39999; id > 0; id--) /* 0 is smaller than the first id, which has no space before it */
		if (id % 3 == 0 && id % 5)
			EXPECT_INT(add(&file, id), 0);
	EXPECT_INT(add(&file, 40000), 0);
	EXPECT_INT(add(&file, 39999 - 39999 % 15), 0);
	EXPECT_INT(check(&file), 26666 + 10667 + 2);
	file_drop(&file);
}

TEST("a row without reserved space is refused")
{
	struct file file;
	file_make(&file, false);
	EXPECT_INT(add(&file, 5), 0);
	EXPECT_INT(add(&file, 7), 0);
	EXPECT_INT(add(&file, 6), -1);
	EXPECT_INT(add(&file, 4), -1);
	EXPECT_INT(check(&file), 2);
	file_drop(&file);
}

TEST("rows can be added and indexed afterwards, and the page that SQLite locks stays free")
{
	struct file file;
	file_make(&file, false);
	file.pages.count = 0x40000000 / SQLITE_PAGE_SIZE - 2; /* a hole in the file instead of a gigabyte of rows */
	for (int64_t id = 0; id < 5000; id++)
		EXPECT_INT(add(&file, id), 0);
	struct error err = { 0 };
	EXPECT_INT(sqlite_rows_end(file.rows, &err), 0);
	EXPECT_INT(sqlite_pages_close(&file.pages, &err), 0);
	EXPECT_INT(sqlite3_exec(file.handle, "INSERT INTO t VALUES (5000, 1, 2, 3); CREATE INDEX i ON t (a)", NULL, NULL, NULL), 0);
	EXPECT_STR(text_of(&file, "SELECT count(*) || ' ' || max(id) FROM t"), "5001 5000");
	file_drop(&file);
}
