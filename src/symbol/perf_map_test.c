#include "symbol/perf_map.h"

#include "base/memory.h"
#include "unit.h"

static const char *name_at(const struct symbol_table *table, uint64_t address)
{
	uint32_t id = table_find(table, address);
	return id ? table->symbols[id - 1].name : "";
}

static char *parsed(struct symbol_table *table, const char *text)
{
	char *owned;
	perf_map_parse(memory_string(text), strlen(text), table, &owned);
	return owned;
}

TEST("a perf map's lines are start, size and a name with blanks; the last one needs no newline")
{
	struct symbol_table table;
	char *owned = parsed(&table, "7f0000001000 20 LazyCompile:~add /tmp/a.js:1\n0x7f0000002000 0x10 hex\n7f0000003000 8 last");
	EXPECT_INT(table.count, 3);
	EXPECT_STR(name_at(&table, 0x7f000000101f), "LazyCompile:~add /tmp/a.js:1");
	EXPECT_STR(name_at(&table, 0x7f0000001020), "");
	EXPECT_STR(name_at(&table, 0x7f0000002000), "hex");
	EXPECT_STR(name_at(&table, 0x7f0000003007), "last");
	table_fini(&table);
	free(owned);
}

TEST("lines too short to hold a name are passed over, and a size that wraps holds nothing")
{
	struct symbol_table table;
	char *owned = parsed(&table, "\n10\n10 20\n10 20 ab\n30 20 abc\n100 ffffffffffffffff wraps\n");
	EXPECT_STR(name_at(&table, 0x10), "");
	EXPECT_STR(name_at(&table, 0x30), "abc");
	EXPECT_STR(name_at(&table, 0x100), "");
	EXPECT_STR(name_at(&table, 0x1000), "");
	table_fini(&table);
	free(owned);
}

TEST("an empty perf map names nothing")
{
	struct symbol_table table;
	char *owned = parsed(&table, "");
	EXPECT_INT(table.count, 0);
	EXPECT_STR(name_at(&table, 5), "");
	table_fini(&table);
	free(owned);
}
