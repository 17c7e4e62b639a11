#include "symbol/kallsyms.h"

#include "base/memory.h"
#include "unit.h"

static const char list[] =
	"0000000000000000 A fixed\n"
	"ffffffff81000000 T _stext\n"
	"ffffffff81000000 T _text\n"
	"ffffffff81000010 T global\n"
	"ffffffff81000010 t local\n"
	"ffffffff81000020 r rodata\n"
	"ffffffff81000030 D data\n"
	"no line at all\n"
	"ffffffff81000040 t last\n"
	"ffffffffc0000000 t ext4_one\t[ext4]\n"
	"ffffffffc0000100 t ext4_two\t[ext4]\n"
	"ffffffffc0000200 t xfs_one\t[xfs]\n"
	"ffffffffc0010000 t bpf_prog_1\t[bpf]\n"
	"ffffffffc0020000 t $x";

static void parsed(struct kallsyms *k, const char *text)
{
	size_t len = strlen(text);
	kallsyms_parse(k, memory_string(text), len);
}

static const char *name_at(const struct symbol_table *table, uint64_t offset)
{
	uint32_t id = table_find(table, offset);
	return id ? table->symbols[id - 1].name : "";
}

TEST("kallsyms yields functions and data of the kernel; of several at one address the last line wins")
{
	struct kallsyms k;
	parsed(&k, list);
	EXPECT(!k.hidden);
	EXPECT_STR(name_at(&k.kernel, 0xffffffff81000000), "_text");
	EXPECT_STR(name_at(&k.kernel, 0xffffffff81000010), "local");
	EXPECT_STR(name_at(&k.kernel, 0xffffffff8100002f), "local");
	EXPECT_STR(name_at(&k.kernel, 0xffffffff81000030), "data");
	EXPECT_STR(name_at(&k.kernel, 0), "");
	kallsyms_fini(&k);
}

TEST("the last symbol of the kernel and of each module ends with the page after it")
{
	struct kallsyms k;
	struct symbol_table table;
	parsed(&k, list);
	EXPECT_STR(name_at(&k.kernel, 0xffffffff81001fff), "last");
	EXPECT_STR(name_at(&k.kernel, 0xffffffff81002000), "");
	kallsyms_module(&k, "[ext4]", 0xffffffffc0000000, &table);
	EXPECT_INT(table.count, 2);
	EXPECT_STR(name_at(&table, 0xff), "ext4_one");
	EXPECT_STR(name_at(&table, 0x100), "ext4_two");
	EXPECT_STR(name_at(&table, 0x1fff), "ext4_two");
	table_fini(&table);
	kallsyms_module(&k, "[none]", 0xffffffffc0000000, &table);
	EXPECT_INT(table.count, 0);
	table_fini(&table);
	kallsyms_fini(&k);
}

TEST("the address of a function is found by its full name")
{
	size_t len = strlen(list);
	EXPECT(kallsyms_address(list, len, "_text") == 0xffffffff81000000);
	EXPECT(kallsyms_address(list, len, "last") == 0xffffffff81000040);
	EXPECT(kallsyms_address(list, len, "text") == 0);
	EXPECT(kallsyms_address(list, len, "data") == 0);
	EXPECT(kallsyms_any_address(list, len, "data") == 0xffffffff81000030);
	EXPECT(kallsyms_any_address(list, len, "_text") == 0xffffffff81000000);
	EXPECT(kallsyms_address(list, len, "") == 0);
	EXPECT(kallsyms_address(list, 0, "_text") == 0);
}

TEST("a list whose addresses are all zero is recognized as hidden")
{
	struct kallsyms k;
	parsed(&k, "0000000000000000 T _text\n0000000000000000 t x\n");
	EXPECT(k.hidden);
	kallsyms_fini(&k);
	parsed(&k, "");
	EXPECT(k.hidden && k.kernel.count == 0);
	kallsyms_fini(&k);
}

TEST("a name is truncated after 512 characters")
{
	char text[700] = "ffffffff81000000 T ";
	memset(text + 19, 'n', 600);
	struct kallsyms k;
	parsed(&k, text);
	EXPECT_INT(strlen(name_at(&k.kernel, 0xffffffff81000000)), 512);
	kallsyms_fini(&k);
}
