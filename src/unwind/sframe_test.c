#include "unwind/sframe.h"

#include "unit.h"

enum { ADDRESS = 0x5000 };

struct made {
	uint8_t bytes[256];
	size_t len;
};

static void put(struct made *m, uint64_t value, unsigned size)
{
	memcpy(m->bytes + m->len, &value, size);
	m->len += size;
}

static void put_header(struct made *m, unsigned version, unsigned abi, int fixed_ra, unsigned functions, unsigned rows_len)
{
	put(m, 0xdee2, 2);
	put(m, version, 1);
	put(m, 1, 1);
	put(m, abi, 1);
	put(m, 0, 1);
	put(m, (uint8_t)fixed_ra, 1);
	put(m, 0, 1);
	put(m, functions, 4);
	put(m, 0, 4);
	put(m, rows_len, 4);
	put(m, 0, 4);
	put(m, functions * (version == 1 ? 17 : 20), 4);
}

/* At 0x1000, relative to the section. */
static void put_function(struct made *m, unsigned version, unsigned size, unsigned rows, unsigned info)
{
	put(m, (uint32_t)(0x1000 - ADDRESS), 4);
	put(m, size, 4);
	put(m, 0, 4);
	put(m, rows, 4);
	put(m, info, 1);
	if (version == 2)
		put(m, 16, 3);
}

static struct rule_table compile(const struct made *m, bool *good)
{
	struct rule_table table = { 0 };
	struct rule_builder b;
	struct sframe s;
	struct sframe_function f;
	rule_builder_init(&b, &table, 0);
	*good = sframe_open(&s, (struct span){ m->bytes, m->len }, ADDRESS) == 0 && sframe_function(&s, 0, &f) &&
		sframe_rows(&s, &f, &b, f.start, f.start + f.size);
	rule_builder_row(&b, 0x1100, RULE_NONE);
	rule_builder_finish(&b);
	return table;
}

TEST("rows of the simple frame format become rules, in both versions")
{
	for (unsigned version = 1; version <= 2; version++) {
		struct made m = { 0 };
		bool good;
		put_header(&m, version, 3, -8, 1, 12);
		put_function(&m, version, 0x40, 3, 0);
		put(&m, 0x080300, 3);            /* 0: sp + 8 */
		put(&m, 0xf0100501, 4);          /* 1: sp + 16, fp at the CFA - 16 */
		put(&m, 0xf0100404, 4);          /* 4: fp + 16, saved as above */
		put(&m, 0, 1);
		struct rule_table table = compile(&m, &good);
		EXPECT(good);
		const struct rule *first = rule_table_find(&table, 0x1000), *second = rule_table_find(&table, 0x1003),
			*third = rule_table_find(&table, 0x103f);
		EXPECT(first && first->cfa_register == 7 && first->cfa_value == 8 && first->ra.value == -8 && first->fp.kind == SAVED_SAME);
		EXPECT(second && second->cfa_register == 7 && second->cfa_value == 16 && second->fp.value == -16);
		EXPECT(third && third->cfa_register == 6 && third->cfa_value == 16 && third->flags & RULE_SIMPLE);
		EXPECT(!rule_table_find(&table, 0x1100));
		rule_table_fini(&table);
	}
}

TEST("the rows of a repeated block apply to each of its repetitions")
{
	struct made m = { 0 };
	bool good;
	put_header(&m, 1, 3, -8, 1, 6);
	put_function(&m, 1, 0x40, 2, 0x10);
	put(&m, 0x080300, 3);
	put(&m, 0x10030b, 3);
	struct rule_table table = compile(&m, &good);
	EXPECT(good);
	for (unsigned at = 0; at < 0x40; at++) {
		const struct rule *rule = rule_table_find(&table, 0x1000 + at);
		EXPECT(rule && rule->cfa_value == (at % 16 >= 11 ? 16 : 8));
	}
	rule_table_fini(&table);
}

TEST("the rows of all repeated blocks of a file are limited")
{
	enum { LIMIT = 1 << 20, ROWS = 2, FIRST = 300000, REST = LIMIT / (ROWS + 1) - FIRST }; /* blocks; each counts as one row more */
	for (unsigned more = 0; more < 2; more++) {
		struct made m = { 0 };
		struct sframe s;
		struct sframe_function f;
		struct rule_table table = { 0 };
		struct rule_builder b;
		put_header(&m, 1, 3, -8, 1, 6);
		put_function(&m, 1, FIRST * 16, ROWS, 0x10);
		put(&m, 0x080300, 3);
		put(&m, 0x10030b, 3);
		rule_builder_init(&b, &table, 0);
		EXPECT(sframe_open(&s, (struct span){ m.bytes, m.len }, ADDRESS) == 0 && sframe_function(&s, 0, &f));
		uint64_t first_end = f.start + (FIRST - 1) * 16, rest_end = f.start + (REST - 1 + more) * 16;
		EXPECT(sframe_rows(&s, &f, &b, first_end - 8, first_end));
		EXPECT_INT(sframe_rows(&s, &f, &b, rest_end - 8, rest_end), !more);
		rule_builder_finish(&b);
		rule_table_fini(&table);
	}
}

TEST("AArch64: the row gives the position of the return address, and whether it is signed")
{
	struct made m = { 0 };
	bool good;
	put_header(&m, 2, 2, 0, 1, 8);
	put_function(&m, 2, 0x40, 2, 0);
	put(&m, 0x000300, 3);                    /* sp + 0, in the link register */
	put(&m, 0xe0e8208704, 5);                /* sp + 32, ra at -24, fp at -32, signed */
	struct rule_table table = compile(&m, &good);
	EXPECT(good);
	const struct rule *leaf = rule_table_find(&table, 0x1000), *framed = rule_table_find(&table, 0x1008);
	EXPECT(leaf && leaf->ra.kind == SAVED_SAME && leaf->cfa_value == 0);
	EXPECT(framed && framed->ra.value == -24 && framed->fp.value == -32 && framed->flags & RULE_SIGNED);
	rule_table_fini(&table);
}

TEST("invalid sizes, other versions and descending rows are rejected")
{
	static const struct { unsigned version, functions, rows_len; } bad[] = { { 3, 1, 3 }, { 1, 1000, 3 }, { 1, 1, 1000 }, { 0, 0, 0 } };
	bool good;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct made m = { 0 };
		put_header(&m, bad[i].version, 3, -8, bad[i].functions, bad[i].rows_len);
		put_function(&m, 1, 0x40, 1, 0);
		put(&m, 0x080300, 3);
		struct rule_table table = compile(&m, &good);
		EXPECT(!good);
		rule_table_fini(&table);
	}
	struct made m = { 0 };
	put_header(&m, 1, 3, -8, 1, 6);
	put_function(&m, 1, 0x40, 2, 0);
	put(&m, 0x080308, 3);
	put(&m, 0x100304, 3);
	struct rule_table table = compile(&m, &good);
	EXPECT(!good);
	EXPECT(!rule_table_find(&table, 0x1009));
	rule_table_fini(&table);
}

TEST("a longer header is passed, and addresses may be relative to their place")
{
	struct made m = { 0 };
	bool good;
	put_header(&m, 2, 3, -8, 1, 3);
	m.bytes[7] = 5; /* bytes after the header */
	m.bytes[3] = 5; /* sorted, relative to their place */
	put(&m, 0x7777777777, 5);
	size_t at = m.len;
	put_function(&m, 2, 0x40, 1, 0);
	uint32_t start = (uint32_t)(0x1000 - ADDRESS - at);
	memcpy(m.bytes + at, &start, 4);
	put(&m, 0x080300, 3);
	struct rule_table table = compile(&m, &good);
	EXPECT(good);
	EXPECT(rule_table_find(&table, 0x1000) && rule_table_find(&table, 0x1000)->cfa_value == 8);
	EXPECT(!rule_table_find(&table, 0xfff));
	rule_table_fini(&table);
}
