/* SQL text for PostgreSQL. Rows are collected by table and written as COPY blocks: their order does not matter, as keys of other tables are
 * not checked. */
#include <stdlib.h>

#include "base/memory.h"
#include "export/database.h"

enum { BLOCK_BYTES = 1 << 16 };

struct postgresql {
	struct database base;
	struct writer *out;
	struct writer blocks[EXPORT_TABLES];
};

static void write_block(struct postgresql *postgresql, enum export_table table)
{
	struct writer *block = &postgresql->blocks[table], *out = postgresql->out;
	if (!block->len)
		return;
	writer_printf(out, "COPY %s FROM stdin;\n", schema_table_name(table));
	writer_add(out, block->buffer, block->len);
	writer_puts(out, "\\.\n");
	block->len = 0;
}

/* The length of the UTF-8 character at text; 0: it is not valid. */
static size_t character(const unsigned char *text)
{
	unsigned char c = *text;
	size_t len = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
	for (size_t i = 1; i < len; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	bool excluded = (c == 0xe0 && text[1] < 0xa0) || (c == 0xed && text[1] >= 0xa0) || (c == 0xf0 && text[1] < 0x90) ||
		(c == 0xf4 && text[1] >= 0x90);
	return excluded ? 0 : len;
}

/* As COPY reads it; a byte that is not UTF-8 becomes '?', as the server refuses it. */
static void add_text(struct writer *block, const char *text)
{
	for (const unsigned char *at = (const unsigned char *)text; *at;) {
		size_t len = character(at);
		if (*at == '\\')
			writer_puts(block, "\\\\");
		else if (*at == '\n' || *at == '\r' || *at == '\t')
			writer_puts(block, *at == '\n' ? "\\n" : *at == '\r' ? "\\r" : "\\t");
		else if (len)
			writer_add(block, at, len);
		else
			writer_putc(block, '?');
		at += len ? len : 1;
	}
}

static void add_integer(struct writer *block, int64_t integer)
{
	if (integer < 0)
		writer_putc(block, '-');
	writer_decimal(block, integer < 0 ? -(uint64_t)integer : (uint64_t)integer, 0);
}

static void postgresql_add(struct database *base, enum export_table table, const struct value *values)
{
	struct postgresql *postgresql = (struct postgresql *)base;
	struct writer *block = &postgresql->blocks[table];
	size_t count = schema_columns(table);
	for (size_t i = 0; i < count; i++) {
		if (!schema_has_column(&base->schema, table, i))
			continue;
		if (i)
			writer_putc(block, '\t');
		if (values[i].kind == VALUE_TEXT)
			add_text(block, values[i].text);
		else /* columns of real values are integers there: as perf's script, without their fraction */
			add_integer(block, values[i].kind == VALUE_REAL ? (int64_t)values[i].real : values[i].integer);
	}
	writer_putc(block, '\n');
	if (block->len >= BLOCK_BYTES)
		write_block(postgresql, table);
	if (postgresql->out->failed && base->error.kind == ERROR_NONE)
		writer_flush(postgresql->out, &base->error);
}

static int postgresql_end(struct database *base, struct error *err)
{
	struct postgresql *postgresql = (struct postgresql *)base;
	CLEANUP_STR struct str sql = { 0 };
	for (unsigned table = 0; table < EXPORT_TABLES; table++)
		write_block(postgresql, (enum export_table)table);
	schema_add_end(&base->schema, base->has_rows, &sql);
	str_puts(&sql, "COMMIT;\n");
	writer_add(postgresql->out, sql.text, sql.len);
	return writer_flush(postgresql->out, err);
}

static void postgresql_close(struct database *base)
{
	struct postgresql *postgresql = (struct postgresql *)base;
	for (unsigned table = 0; table < EXPORT_TABLES; table++)
		writer_fini(&postgresql->blocks[table]);
	free(postgresql);
}

static const struct database_ops postgresql_ops = { .add = postgresql_add, .end = postgresql_end, .close = postgresql_close };

struct database *database_postgresql(struct writer *out, const struct schema *schema)
{
	struct postgresql *postgresql = memory_zero(1, sizeof *postgresql);
	CLEANUP_STR struct str sql = { 0 };
	postgresql->base.ops = &postgresql_ops;
	postgresql->base.schema = *schema;
	postgresql->out = out;
	str_puts(&sql, "SET client_encoding = 'UTF8';\nSET client_min_messages = warning;\nBEGIN;\n");
	for (unsigned table = 0; table < EXPORT_TABLES; table++) {
		writer_open(&postgresql->blocks[table], -1, 0);
		if (schema_has(schema, (enum export_table)table))
			schema_add_table(schema, (enum export_table)table, &sql);
	}
	schema_add_views(schema, &sql);
	writer_add(out, sql.text, sql.len);
	return &postgresql->base;
}
