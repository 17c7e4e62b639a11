#include "symbol/go_table.h"

#include "elf/elf_maker.h"
#include "symbol/load_elf.h"
#include "unit.h"

enum { NAMES = 80, FUNCTIONS = 128, LENGTH = 256, TEXT = 0x401000 };

struct table_maker {
	uint8_t bytes[LENGTH];
	uint8_t word;
	bool big;
};

static void put(struct table_maker *t, size_t at, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		t->bytes[at + i] = (uint8_t)(value >> 8 * (t->big ? size - 1 - i : i));
}

/* Makes a table with main.main at 0x10 and main.(*shape).area from 0x30 to 0x50. */
static struct table_maker made(uint32_t magic, bool is64, bool big)
{
	static const char names[] = "\0main.main\0main.(*shape).area";
	struct table_maker t = { .word = is64 ? 8 : 4, .big = big };
	const uint64_t header[] = { 2, 0, TEXT, NAMES, 0, 0, 0, FUNCTIONS };
	put(&t, 0, magic, 4);
	put(&t, 7, t.word, 1);
	for (unsigned i = 0; i < sizeof header / sizeof *header; i++)
		put(&t, 8 + i * t.word, header[i], t.word);
	memcpy(t.bytes + NAMES, names, sizeof names);
	const uint32_t functions[] = { 0x10, 0x20, 0x30, 0x30, 0x50 };
	for (unsigned i = 0; i < sizeof functions / sizeof *functions; i++)
		put(&t, FUNCTIONS + 4 * i, functions[i], 4);
	put(&t, FUNCTIONS + 0x24, 1, 4);
	put(&t, FUNCTIONS + 0x34, 11, 4);
	return t;
}

static const char *name_at(const struct symbol_table *table, uint64_t offset)
{
	uint32_t id = table_find(table, offset);
	return id ? table->symbols[id - 1].name : "";
}

/* Looks up three offsets in the functions of a program that has only this table; all: expects a name for each, otherwise none. */
static void expect(const struct table_maker *t, bool all)
{
	static const struct demangler plain = { 0 };
	struct maker m = maker_new(t->word == 8, t->big, t->word == 8 ? EM_X86_64 : EM_386, ET_EXEC);
	struct arena names = { 0 };
	struct symbol_table table;
	struct elf elf;
	size_t len;
	maker_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, NULL, 0x100);
	maker_section(&m, ".gopclntab", SHT_PROGBITS, SHF_ALLOC, 0x500000, t->bytes, sizeof t->bytes);
	uint8_t *file = maker_finish(&m, &len);
	EXPECT_INT(elf_open(&elf, (struct span){ file, len }, NULL), 0);
	EXPECT(go_table_has(&elf) == all);
	struct elf_load_request request = { .symbols = &elf, .runtime = &elf, .dynamic = &elf, .use = ELF_USE_FILE, .demangler = &plain,
		.names = &names };
	load_elf(&request, &table);
	uint64_t at = elf_section(&elf, ".text")->offset;
	EXPECT_STR(name_at(&table, at + 0xf), "");
	EXPECT_STR(name_at(&table, at + 0x2f), all ? "main.main" : "");
	EXPECT_STR(name_at(&table, at + 0x30), all ? "main.(*shape).area" : "");
	EXPECT_STR(name_at(&table, at + 0x50), "");
	table_fini(&table);
	arena_fini(&names);
	elf_close(&elf);
	free(file);
}

TEST("a Go program without a symbol table has the names of its runtime's table, in either word size and byte order")
{
	for (unsigned i = 0; i < 8; i++) {
		struct table_maker t = made(i & 1 ? 0xfffffff0 : 0xfffffff1, i & 2, i & 4);
		expect(&t, true);
	}
}

TEST("a Go table of an unknown version, or a damaged one, yields no names")
{
	static const struct { unsigned at, value, size; } damages[] = {
		{ 0, 0xfffffffa, 4 }, { 4, 1, 1 }, { 7, 4, 1 }, { 8, 0, 8 }, { 8, 40, 8 }, { 8 + 24, LENGTH, 8 }, { 8 + 56, LENGTH + 1, 8 },
	};
	for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
		struct table_maker t = made(0xfffffff1, true, false);
		put(&t, damages[i].at, damages[i].value, damages[i].size);
		expect(&t, false);
	}
}

TEST("a Go function whose entry points outside of the table has no name, the others do")
{
	struct table_maker t = made(0xfffffff1, true, false);
	put(&t, FUNCTIONS + 8 + 4, LENGTH, 4);
	struct table_maker u = made(0xfffffff1, true, false);
	put(&u, FUNCTIONS + 0x34, LENGTH, 4);
	for (unsigned i = 0; i < 2; i++) {
		struct maker m = maker_new(true, false, EM_X86_64, ET_EXEC);
		struct table_builder builder;
		struct symbol_table table;
		struct elf elf;
		size_t len;
		maker_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, NULL, 0x100);
		maker_section(&m, ".gopclntab", SHT_PROGBITS, SHF_ALLOC, 0x500000, i ? u.bytes : t.bytes, LENGTH);
		uint8_t *file = maker_finish(&m, &len);
		EXPECT_INT(elf_open(&elf, (struct span){ file, len }, NULL), 0);
		builder_init(&builder, &(struct demangler){ .off = true });
		go_table_symbols(&elf, &builder);
		builder_finish(&builder, &table);
		EXPECT_INT(table.count, 1);
		EXPECT_STR(table.count ? table.symbols[0].name : "", "main.main");
		table_fini(&table);
		elf_close(&elf);
		free(file);
	}
}
