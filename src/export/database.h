/* Where the rows of an export are written: a SQLite database, or a text of SQL that makes a PostgreSQL database. Values are bound or
 * escaped: names from a recording cannot change a statement. Knows no sample. */
#pragma once
#include <stdint.h>

#include "base/error.h"
#include "base/writer.h"
#include "export/schema.h"

enum value_kind { VALUE_INTEGER, VALUE_REAL, VALUE_TEXT };

struct value {
	enum value_kind kind;
	union {
		int64_t integer;
		double real;
		const char *text;  /* borrowed for the call */
	};
};

static inline struct value value_of(uint64_t integer)
{
	return (struct value){ .kind = VALUE_INTEGER, .integer = (int64_t)integer };
}

static inline struct value value_text(const char *text)
{
	return (struct value){ .kind = VALUE_TEXT, .text = text };
}

struct database {
	const struct database_ops *ops;
	struct schema schema;
	bool has_rows[EXPORT_TABLES];
	struct error error;        /* the first failure: no later row is written */
};

struct database_ops {
	void (*add)(struct database *database, enum export_table table, const struct value *values);
	int (*end)(struct database *database, struct error *err);
	void (*close)(struct database *database);
};

/* fd: an empty file, open for reading and writing, which must stay open. NULL: *err has the reason. */
struct database *database_sqlite(int fd, const struct schema *schema, struct error *err);
/* The text makes its tables in one transaction. out is borrowed. */
struct database *database_postgresql(struct writer *out, const struct schema *schema);

/* Adds a row. values: schema_columns(table) of them. Failures are stored in database->error. */
void database_add(struct database *database, enum export_table table, const struct value *values);
/* Writes what remains, the indexes and views. The file is complete if this succeeds. */
int database_end(struct database *database, struct error *err);
void database_close(struct database *database); /* accepts NULL */
