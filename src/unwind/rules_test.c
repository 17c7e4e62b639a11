#include "unwind/rules.h"

#include "unit.h"

static uint32_t numbered(struct rule_builder *b, int32_t number)
{
	struct rule rule = { .cfa_value = number, .cfa_register = 7, .ra = { .reg = 16, .kind = SAVED_AT_CFA, .value = -8 } };
	return rule_builder_rule(b, &rule, NULL, 0);
}

TEST("equal rules are stored once, and rows equal to the one before are not stored")
{
	struct rule_table table = { 0 };
	struct rule_builder b;
	rule_builder_init(&b, &table, 0);
	for (uint64_t i = 0; i < 100; i++)
		rule_builder_row(&b, 0x1000 + i, numbered(&b, i < 50 ? 8 : 16));
	rule_builder_row(&b, 0x1064, RULE_NONE);
	rule_builder_row(&b, 0x1010, numbered(&b, 99)); /* out of order: dropped */
	rule_builder_finish(&b);
	EXPECT_INT(table.count, 3);
	EXPECT_INT(table.rule_count, 4);
	EXPECT(rule_table_find(&table, 0x1031)->cfa_value == 8 && rule_table_find(&table, 0x1032)->cfa_value == 16);
	EXPECT(!rule_table_find(&table, 0x1064) && !rule_table_find(&table, 0xfff) && !rule_table_find(&table, UINT64_MAX));
	rule_table_fini(&table);
}

TEST("the row of an address is found for any distribution of rows, and with more than 65536 rules")
{
	for (unsigned way = 0; way < 4; way++) {
		bool wide = way & 1, quick = way & 2;
		struct rule_table table = { 0 };
		struct rule_builder b;
		uint64_t at = 0x400000, seed = 7;
		rule_builder_init(&b, &table, 0);
		for (int32_t i = 0; i < 70000; i++) {
			(quick ? rule_builder_add : rule_builder_row)(&b, at, numbered(&b, wide ? i : i % 1000));
			seed = seed * 6364136223846793005u + 1;
			at += 1 + (seed >> 60 ? seed >> 58 : seed >> 48);
		}
		rule_builder_row(&b, at, RULE_NONE);
		rule_builder_finish(&b);
		EXPECT((table.rules32 != NULL) == wide);
		EXPECT_INT(table.count, 70001);
		unsigned wrong = 0;
		for (uint32_t i = 0; i + 1 < table.count; i++)
			for (unsigned last = 0; last < 2; last++) {
				uint64_t address = table.base + (last ? table.starts[i + 1] - 1 : table.starts[i]);
				const struct rule *rule = rule_table_find(&table, address);
				wrong += !rule || rule->cfa_value != (int32_t)(wide ? i : i % 1000);
			}
		EXPECT_INT(wrong, 0);
		EXPECT(!rule_table_find(&table, at));
		rule_table_fini(&table);
	}
}

TEST("an empty table has no rule for any address")
{
	struct rule_table table = { 0 };
	struct rule_builder b;
	rule_builder_init(&b, &table, 0);
	rule_builder_row(&b, 0x1000, RULE_NONE);
	rule_builder_finish(&b);
	EXPECT(!rule_table_find(&table, 0) && !rule_table_find(&table, 0x1000));
	rule_table_fini(&table);
}

TEST("a rule with an expression needs every register, others need those that they name")
{
	static const struct { struct saved saved; uint64_t needed; } rows[] = {
		{ { .reg = 3, .kind = SAVED_AT_CFA, .value = -16 }, 1 << 7 },
		{ { .reg = 3, .kind = SAVED_IN_REGISTER, .base = 12 }, 1 << 7 | 1 << 12 },
		{ { .reg = 3, .kind = SAVED_AT_REGISTER, .base = 13, .value = 8 }, 1 << 7 | 1 << 13 },
		{ { .reg = 3, .kind = SAVED_AT_EXPRESSION }, UINT64_MAX },
		{ { .reg = 3, .kind = SAVED_IS_EXPRESSION }, UINT64_MAX },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct rule_table table = { 0 };
		struct rule_builder b;
		struct rule rule = { .cfa_value = 16, .cfa_register = 7, .ra = { .reg = 16, .kind = SAVED_AT_CFA, .value = -8 } };
		rule_builder_init(&b, &table, 0);
		rule_builder_row(&b, 0x1000, rule_builder_rule(&b, &rule, &rows[i].saved, 1));
		rule_builder_row(&b, 0x1010, RULE_NONE);
		rule_builder_finish(&b);
		EXPECT(table.needed == rows[i].needed);
		rule_table_fini(&table);
	}
}
