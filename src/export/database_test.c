#include "export/database.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "export/branch_types.h"
#include "export/synthesized.h"
#include "unit.h"

/* The SQL text of some rows. */
static char *text_of(const struct schema *schema, void (*add)(struct database *database))
{
	struct writer out;
	struct error err = { 0 };
	writer_open(&out, -1, 0);
	struct database *database = database_postgresql(&out, schema);
	add(database);
	EXPECT_INT(database_end(database, &err), 0);
	database_close(database);
	writer_putc(&out, '\0');
	char *text = memory_string(out.buffer);
	writer_fini(&out);
	return text;
}

static void add_names(struct database *database)
{
	const char *names[] = { "'); DROP TABLE samples; --", "a\tb\nc\\d", "\\.", "\xff\xc3\xa4\xc3", "" };
	for (uint64_t i = 0; i < sizeof names / sizeof *names; i++) {
		const struct value values[] = { value_of(i - 1), value_text(names[i]) };
		database_add(database, TABLE_EVENTS, values);
	}
}

TEST("names cannot leave their column: COPY text is escaped, and bytes that are not UTF-8 are replaced")
{
	const struct schema schema = { .dialect = DIALECT_POSTGRESQL };
	char *text = text_of(&schema, add_names);
	EXPECT(strstr(text, "COPY selected_events FROM stdin;\n-1\t'); DROP TABLE samples; --\n"
		"0\ta\\tb\\nc\\\\d\n1\t\\\\.\n2\t?\xc3\xa4?\n3\t\n\\.\n"));
	EXPECT(strstr(text, "COMMIT;\n") && strstr(text, "BEGIN;\n"));
	free(text);
}

static void add_payloads(struct database *database)
{
	const uint32_t frequency[] = { 12 << 16 | 29, 2900532, 0 }, written[] = { 1, UINT32_MAX, UINT32_MAX };
	const uint64_t woken = 0x421;
	uint8_t wake[12] = { 0 };
	memcpy(wake + 4, &woken, sizeof woken);
	synthesized_add(database, 5, 5, (const uint8_t *)frequency, sizeof frequency);
	synthesized_add(database, 6, 0, (const uint8_t *)written, sizeof written);
	synthesized_add(database, 7, 4, wake, sizeof wake);
	synthesized_add(database, 8, 0, (const uint8_t *)written, sizeof written - 1);
}

TEST("payloads of a trace's events are rows of their tables, and tables without rows are dropped")
{
	const struct schema schema = { .dialect = DIALECT_POSTGRESQL, .branches = true };
	char *text = text_of(&schema, add_payloads);
	EXPECT(strstr(text, "COPY cbr FROM stdin;\n5\t29\t2901\t242\n"));
	EXPECT(strstr(text, "COPY ptwrite FROM stdin;\n6\t-1\t1\n\\.\n"));
	EXPECT(strstr(text, "COPY pwrx FROM stdin;\n7\t1\t2\t4\n"));
	EXPECT(strstr(text, "DROP TABLE context_switches;") && !strstr(text, "DROP TABLE mwait"));
	EXPECT(!strstr(text, "calls") && !strstr(text, "weight"));
	free(text);
}

static void add_nothing(struct database *database)
{
	branch_types_add(database);
}

TEST("tables of calls and call paths exist where they are requested")
{
	char *text = text_of(&(struct schema){ .dialect = DIALECT_POSTGRESQL, .calls = true }, add_nothing);
	EXPECT(strstr(text, "CREATE TABLE calls (") && strstr(text, "CREATE TABLE call_paths (") && strstr(text, "has_calls"));
	EXPECT(strstr(text, "\n257\ttrace begin\n") && strstr(text, "\n259\ttrace begin / call\n"));
	free(text);
	text = text_of(&(struct schema){ .dialect = DIALECT_POSTGRESQL, .callchains = true }, add_nothing);
	EXPECT(!strstr(text, "CREATE TABLE calls (") && strstr(text, "CREATE TABLE call_paths (") && strstr(text, "\"") == NULL);
	EXPECT(strstr(text, "DROP TABLE cbr;") && strstr(text, "DROP VIEW power_events_view;"));
	free(text);
}

TEST("a SQLite file without a name is complete at the end")
{
	struct error err = { 0 };
	char name[] = "/tmp/database_test.XXXXXX", magic[16] = "";
	int fd = mkstemp(name);
	unlink(name);
	const struct schema schema = { .dialect = DIALECT_SQLITE, .calls = true };
	struct database *database = database_sqlite(fd, &schema, &err);
	if (!database && err.kind == ERROR_UNSUPPORTED) {
		unit_skip("this build has no SQLite");
		close(fd);
		return;
	}
	EXPECT_STR(err.text, "");
	add_names(database);
	EXPECT_INT(database_end(database, &err), 0);
	database_close(database);
	EXPECT_INT(pread(fd, magic, sizeof magic, 0), 16);
	EXPECT_STR(magic, "SQLite format 3");
	close(fd);
}

TEST("a SQLite file without calls and call paths has the tables of a trace's events")
{
	enum { SIZE = 1 << 20 };
	struct error err = { 0 };
	char name[] = "/tmp/database_test.XXXXXX";
	int fd = mkstemp(name);
	unlink(name);
	const struct schema schema = { .dialect = DIALECT_SQLITE };
	struct database *database = database_sqlite(fd, &schema, &err);
	if (!database && err.kind == ERROR_UNSUPPORTED) {
		unit_skip("this build has no SQLite");
		close(fd);
		return;
	}
	add_payloads(database);
	EXPECT_INT(database_end(database, &err), 0);
	EXPECT_STR(err.text, "");
	database_close(database);
	char *file = memory_alloc(SIZE);
	ssize_t size = pread(fd, file, SIZE, 0);
	EXPECT(size > 0 && size < SIZE);
	for (size_t i = 0; i < 3; i++) {
		static const char *const tables[] = { "CREATE TABLE cbr", "CREATE TABLE ptwrite", "CREATE TABLE pwrx" };
		EXPECT(memmem(file, size > 0 ? (size_t)size : 0, tables[i], strlen(tables[i])));
	}
	EXPECT(!memmem(file, size > 0 ? (size_t)size : 0, "CREATE TABLE calls", 18));
	free(file);
	close(fd);
}
