#include "symbol/table.h"

#include <elf.h>

#include "unit.h"

static const struct demangler plain = { 0 };

static struct symbol_table finished(struct table_builder *b)
{
	struct symbol_table table;
	builder_finish(b, &table);
	return table;
}

static const char *name_at(const struct symbol_table *table, uint64_t offset)
{
	uint32_t id = table_find(table, offset);
	return id ? table->symbols[id - 1].name : "";
}

TEST("a symbol without size extends to the next one, the last to the end of the page after its own")
{
	struct table_builder b;
	builder_init(&b, &plain);
	builder_add(&b, 0x2345, 0, "last", STB_GLOBAL, STT_FUNC);
	builder_add(&b, 0x1000, 0, "open", STB_GLOBAL, STT_FUNC);
	builder_add(&b, 0x1100, 0x10, "sized", STB_GLOBAL, STT_FUNC);
	builder_merge(&b);
	builder_fix_ends(&b, false);
	builder_drop_duplicates(&b);
	struct symbol_table table = finished(&b);
	EXPECT_INT(table.count, 3);
	EXPECT_STR(name_at(&table, 0xfff), "");
	EXPECT_STR(name_at(&table, 0x1000), "open");
	EXPECT_STR(name_at(&table, 0x10ff), "open");
	EXPECT_STR(name_at(&table, 0x110f), "sized");
	EXPECT_STR(name_at(&table, 0x1110), "");
	EXPECT_STR(name_at(&table, 0x3fff), "last");
	EXPECT_STR(name_at(&table, 0x4000), "");
	table_fini(&table);
}

TEST("look-ups in a table of many symbols, dense ones and distant ones, are those of a search of all")
{
	struct table_builder b;
	uint64_t start = 0x1000;
	builder_init(&b, &plain);
	for (unsigned i = 0; i < 300; i++, start += i % 50 ? 1 + i % 7 : UINT64_C(1) << i / 8)
		builder_add(&b, start, 1 + i % 3, "name", STB_GLOBAL, STT_FUNC);
	builder_merge(&b);
	struct symbol_table table = finished(&b);
	EXPECT(table.parts != NULL);
	struct symbol_table whole = table;
	whole.parts = NULL;
	for (uint32_t i = 0; i < table.count; i++) {
		const struct symbol *symbol = &table.symbols[i];
		for (uint64_t at = symbol->start - 1; at <= symbol->end; at++)
			EXPECT_INT(table_find(&table, at), table_find(&whole, at));
	}
	EXPECT_INT(table_find(&table, 0xfff), 0);
	EXPECT_INT(table_find(&table, start + 0x100000), 0);
	EXPECT_INT(table_find(&table, UINT64_MAX), 0);
	table_fini(&table);
}

TEST("of several names at one address the better one is retained")
{
	static const struct {
		const char *name;
		uint64_t size;
		uint8_t binding;
	} pairs[][2] = {
		/* the second one is retained */
		{ { "empty", 0, STB_GLOBAL }, { "sized", 8, STB_WEAK } },
		{ { "weak_but_long", 8, STB_WEAK }, { "local", 8, STB_LOCAL } },
		{ { "local_but_long", 8, STB_LOCAL }, { "global", 8, STB_GLOBAL } },
		{ { "_underscored", 8, STB_GLOBAL }, { "plain", 8, STB_GLOBAL } },
		{ { "short", 8, STB_GLOBAL }, { "longer_name", 8, STB_GLOBAL } },
		{ { "_ZN1aEv", 8, STB_GLOBAL }, { "plain", 8, STB_GLOBAL } },
		{ { "longname", 8, STB_GLOBAL }, { "_ZN4long4nameEv", 8, STB_GLOBAL } },
		{ { "SyS_write", 8, STB_GLOBAL }, { "sys_write", 8, STB_GLOBAL } },
	};
	for (size_t i = 0; i < 2 * sizeof pairs / sizeof *pairs; i++) {
		struct table_builder b;
		bool swapped = i & 1;
		builder_init(&b, &plain);
		for (unsigned k = 0; k < 2; k++)
			builder_add(&b, 0x100, pairs[i / 2][k ^ swapped].size, pairs[i / 2][k ^ swapped].name,
				pairs[i / 2][k ^ swapped].binding, STT_FUNC);
		/* its ends are fixed, and a symbol follows */
		builder_add(&b, 0x200, 8, "behind", STB_GLOBAL, STT_FUNC);
		builder_merge(&b);
		builder_drop_duplicates(&b);
		struct symbol_table table = finished(&b);
		EXPECT_INT(table.count, 2);
		EXPECT_STR(name_at(&table, 0x100), pairs[i / 2][1].name);
		table_fini(&table);
	}
}

TEST("symbols of later rounds are added, and dropped if an equal one exists")
{
	struct table_builder b;
	builder_init(&b, &plain);
	builder_add(&b, 0x100, 16, "aaa", STB_GLOBAL, STT_FUNC);
	builder_merge(&b);
	builder_fix_ends(&b, false);
	builder_drop_duplicates(&b);
	builder_add(&b, 0x100, 16, "bbb", STB_GLOBAL, STT_FUNC);
	builder_add(&b, 0x80, 16, "before", STB_GLOBAL, STT_FUNC);
	builder_merge(&b);
	builder_fix_ends(&b, false);
	builder_drop_duplicates(&b);
	struct symbol_table table = finished(&b);
	EXPECT_STR(name_at(&table, 0x100), "aaa");
	EXPECT_STR(name_at(&table, 0x80), "before");
	EXPECT_INT(table.count, 2);
	table_fini(&table);
}

TEST("where symbols overlap, the path through perf's tree determines which one is found")
{
	struct table_builder b;
	builder_init(&b, &plain);
	/* the first one added is the root, with children left and right */
	builder_add(&b, 0x100, 0x100, "root", STB_GLOBAL, STT_FUNC);
	builder_add(&b, 0x140, 0x10, "inside", STB_GLOBAL, STT_FUNC);
	builder_add(&b, 0x80, 0x1000, "around", STB_GLOBAL, STT_FUNC);
	builder_merge(&b);
	struct symbol_table table = finished(&b);
	EXPECT(table.root != 0);
	EXPECT_STR(name_at(&table, 0x148), "root");
	EXPECT_STR(name_at(&table, 0x90), "around");
	/* to the right of the root is only "inside", which does not contain the address */
	EXPECT_STR(name_at(&table, 0x300), "");
	table_fini(&table);
}

TEST("a table that is only listed has no tree, and the same symbols")
{
	struct table_builder b;
	builder_init(&b, &plain);
	b.unsearched = true;
	builder_add(&b, 0x100, 0x100, "root", STB_GLOBAL, STT_FUNC);
	builder_add(&b, 0x140, 0x10, "inside", STB_GLOBAL, STT_FUNC);
	builder_merge(&b);
	struct symbol_table table = finished(&b);
	EXPECT_INT(table.root, 0);
	EXPECT_INT(table.count, 2);
	EXPECT_STR(name_at(&table, 0x148), "inside");
	EXPECT_STR(name_at(&table, 0x160), "");
	table_fini(&table);
}

TEST("keys are sorted by all their bits, equal ones in their original order")
{
	enum { COUNT = 3000 };
	static struct table_key keys[COUNT];
	uint64_t seed = 7;
	for (uint32_t i = 0; i < COUNT; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		keys[i] = (struct table_key){ i % 3 ? seed : seed >> 60 << 60, i };
	}
	table_sort_keys(keys, COUNT);
	for (uint32_t i = 1; i < COUNT; i++)
		EXPECT(keys[i - 1].key < keys[i].key || (keys[i - 1].key == keys[i].key && keys[i - 1].index < keys[i].index));
	table_sort_keys(keys, 0);
}
