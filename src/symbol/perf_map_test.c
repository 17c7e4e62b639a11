#include "symbol/perf_map.h"

#include <inttypes.h>

#include "base/memory.h"
#include "base/str.h"
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

TEST("lines that are too short for a name are skipped, and a size that wraps covers nothing")
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

TEST("an empty perf map yields no symbols")
{
	struct symbol_table table;
	char *owned = parsed(&table, "");
	EXPECT_INT(table.count, 0);
	EXPECT_STR(name_at(&table, 5), "");
	table_fini(&table);
	free(owned);
}

TEST("maps of all runtimes are read: Python, Node, Java, .NET, LuaJIT, V8, LLVM, Julia")
{
	static const char *const names[] = {
		"py::fib:/srv/app/a b.py",
		"LazyCompile:*add /srv/app/x.js:1:13", "Script:~/srv/app/x.js", "Builtin:ArrayIndexOf", "BytecodeHandler:LdaZero",
		"Ljava/lang/String;::indexOf", "java.util.HashMap::put",
		"void [System.Private.CoreLib] System.Number::Format(int32,string)[OptimizedTier1]", "stub<1> AllocateTemporaryEntryPoints<PRECODE_STUB>",
		"TRACE_12::main.lua:33",
		"wasm-function[7]:add", "jit_function.llvm.123", "_ZN3foo3barEv",
		"julia_include_0", "jfptr_fib_42",
	};
	struct str text = { 0 };
	size_t count = sizeof names / sizeof *names;
	for (size_t i = 0; i < count; i++)
		str_printf(&text, i % 2 ? "0x%" PRIx64 " 0x10 %s\n" : "%" PRIx64 " 10 %s\n", UINT64_C(0x7f0000000000) + i * 0x20, names[i]);
	struct symbol_table table;
	char *owned = parsed(&table, str_text(&text));
	EXPECT_INT(table.count, count);
	for (size_t i = 0; i < count; i++)
		EXPECT_STR(name_at(&table, 0x7f0000000000 + i * 0x20 + 0xf), names[i]);
	table_fini(&table);
	free(owned);
	str_fini(&text);
}

TEST("of overlapping entries the same one is found as in perf: the last of equal ones, the inner of nested ones")
{
	struct symbol_table table;
	char *owned = parsed(&table, "1000 40 one\n1000 40 two\n2000 100 outer\n2040 4 inner\n3000 0 empty\n3008 8 next\n");
	EXPECT_STR(name_at(&table, 0x1008), "two");
	EXPECT_STR(name_at(&table, 0x2042), "inner");
	EXPECT_STR(name_at(&table, 0x2010), "outer");
	EXPECT_STR(name_at(&table, 0x3000), "empty");
	EXPECT_STR(name_at(&table, 0x300a), "next");
	table_fini(&table);
	free(owned);
}
