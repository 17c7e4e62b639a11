#include "elf/pe_image.h"

#include <elf.h>
#include <stdlib.h>

#include "elf/elf.h"
#include "elf/symtab.h"
#include "unit.h"

enum {
	PE = 0x80, SECTIONS = 0x200, TEXT = 0x400, DATA = 0x600, DEBUG = 0x700, VIEW = 0x740, LINES = 0x800, SYMBOLS = 0x840,
	STRINGS = SYMBOLS + 9 * 18,
	LENGTH = STRINGS + 64, BASE = 0x140000000,
	EXTERNAL = 2, STATIC = 3, FILE_NAME = 103, WEAK = 105, FUNCTION = 0x20,
};

static void put(uint8_t *file, size_t at, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		file[at + i] = (uint8_t)(value >> 8 * i);
}

static void put_section(uint8_t *file, unsigned index, const char *name, const uint32_t words[4], uint32_t flags)
{
	size_t at = SECTIONS + 40u * index;
	memcpy(file + at, name, strnlen(name, 8));
	for (unsigned i = 0; i < 4; i++)
		put(file, at + 8 + 4 * i, words[i], 4);
	put(file, at + 36, flags, 4);
}

/* name: up to 8 bytes, or NULL: the long one at that offset of the strings. */
static void put_symbol(uint8_t *file, unsigned index, const char *name, uint32_t offset, uint32_t value, int section, unsigned type,
	unsigned class, unsigned more)
{
	size_t at = SYMBOLS + 18u * index;
	if (name)
		memcpy(file + at, name, strnlen(name, 8));
	else
		put(file, at + 4, offset, 4);
	put(file, at + 8, value, 4);
	put(file, at + 12, (uint16_t)section, 2);
	put(file, at + 14, type, 2);
	put(file, at + 16, class, 1);
	put(file, at + 17, more, 1);
}

/* Five sections: code, data whose part in the file is shorter than in memory, the debug directory, memory without content, and lines of
 * debug information with a long name. */
static void make(uint8_t file[static LENGTH], bool is64, uint16_t machine)
{
	static const uint8_t guid[] = { 4, 3, 2, 1, 6, 5, 8, 7, 9, 10, 11, 12, 13, 14, 15, 16 };
	size_t optional = PE + 24, directories = optional + (is64 ? 108 : 92);
	memset(file, 0, LENGTH);
	memcpy(file, "MZ", 2);
	put(file, 0x3c, PE, 4);
	memcpy(file + PE, "PE\0\0", 4);
	put(file, PE + 4, machine, 2);
	put(file, PE + 6, 5, 2);
	put(file, PE + 12, SYMBOLS, 4);
	put(file, PE + 16, 9, 4);
	put(file, PE + 20, SECTIONS - optional, 2);
	put(file, optional, is64 ? 0x20b : 0x10b, 2);
	put(file, optional + 16, 0x1010, 4);
	put(file, optional + (is64 ? 24 : 28), is64 ? BASE : 0x400000, is64 ? 8 : 4);
	put(file, directories, 7, 4);
	put(file, directories + 4 + 6 * 8, 0x3000, 4);
	put(file, directories + 8 + 6 * 8, 2 * 28, 4);
	put_section(file, 0, ".text", (const uint32_t[]){ 0x1f0, 0x1000, 0x200, TEXT }, 0x60000020);
	put_section(file, 1, ".data", (const uint32_t[]){ 0x300, 0x2000, 0x100, DATA }, 0xc0000040);
	put_section(file, 2, "eightlet", (const uint32_t[]){ 0x100, 0x3000, 0x100, DEBUG }, 0x40000040);
	put_section(file, 3, ".bss", (const uint32_t[]){ 0x5000, 0x4000, 0x80, DATA }, 0xc0000080);
	put_section(file, 4, "/30", (const uint32_t[]){ 0x30, 0xa000, 0x40, LINES }, 0x42000040);
	/* the first entry of the debug directory is of another kind */
	put(file, DEBUG + 12, 4, 4);
	put(file, DEBUG + 28 + 12, 2, 4);
	put(file, DEBUG + 28 + 20, 0x3040, 4);
	put(file, DEBUG + 28 + 24, VIEW, 4);
	memcpy(file + VIEW, "RSDS", 4);
	memcpy(file + VIEW + 4, guid, sizeof guid);
	put_symbol(file, 0, "main.c", 0, 0, -2, 0, FILE_NAME, 1);
	put_symbol(file, 2, "_main", 0, 0x10, 1, FUNCTION, EXTERNAL, 0);
	put_symbol(file, 3, ".text", 0, 0x20, 1, 0, STATIC, 1);
	put_symbol(file, 5, NULL, 4, 0x30, 1, FUNCTION, STATIC, 0);
	put_symbol(file, 6, "_a_label", 0, 8, 2, 0, WEAK, 0);
	put_symbol(file, 7, "missing", 0, 0, 0, FUNCTION, EXTERNAL, 0);
	put_symbol(file, 8, "nowhere", 0, 0, 6, FUNCTION, EXTERNAL, 0);
	put(file, STRINGS, 64, 4);
	memcpy(file + STRINGS + 4, "a_function_with_long_name", 26);
	memcpy(file + STRINGS + 30, ".debug_line", 12);
}

struct converted {
	uint8_t file[LENGTH];
	struct pe_elf made;
	uint8_t *bytes;
	struct elf elf;
};

enum { TABLES_AT = 4096 };

static void convert(struct converted *c, size_t length)
{
	struct error err = { 0 };
	EXPECT(pe_is((struct span){ c->file, length }));
	EXPECT_INT(pe_to_elf((struct span){ c->file, length }, TABLES_AT, 1 << 20, &c->made, &err), 0);
	size_t size = TABLES_AT + c->made.tables.len;
	c->bytes = calloc(1, size);
	memcpy(c->bytes, c->file, length);
	memcpy(c->bytes, c->made.head, c->made.head_size);
	memcpy(c->bytes + TABLES_AT, c->made.tables.buffer, c->made.tables.len);
	EXPECT_INT(elf_open(&c->elf, (struct span){ c->bytes, size }, &err), 0);
}

static void close_converted(struct converted *c)
{
	elf_close(&c->elf);
	writer_fini(&c->made.tables);
	free(c->bytes);
}

static void expect_section(const struct elf *elf, const char *name, uint32_t type, uint64_t flags, uint64_t address, uint64_t offset,
	uint64_t size)
{
	const struct elf_section *s = elf_section(elf, name);
	EXPECT(s);
	if (!s)
		return;
	EXPECT_INT(s->type, type);
	EXPECT_INT(s->flags, flags);
	EXPECT_INT(s->address, address);
	EXPECT_INT(s->offset, offset);
	EXPECT_INT(s->size, size);
}

static void expect_symbol(const struct elf_symtab *tab, uint32_t index, const char *name, uint64_t value, unsigned section, unsigned type,
	unsigned binding)
{
	struct elf_symbol symbol = elf_symtab_get(tab, index);
	EXPECT_STR(symbol.name, name);
	EXPECT_INT(symbol.value, value);
	EXPECT_INT(symbol.size, 0);
	EXPECT_INT(symbol.section, section);
	EXPECT_INT(symbol.type, type);
	EXPECT_INT(symbol.binding, binding);
}

TEST("sections, segments and symbols of a 64-bit program of Windows have their places")
{
	struct converted c;
	make(c.file, true, 0x8664);
	convert(&c, LENGTH);
	EXPECT(c.elf.is64);
	EXPECT_INT(c.elf.machine, EM_X86_64);
	EXPECT_INT(c.elf.entry, BASE + 0x1010);
	expect_section(&c.elf, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, BASE + 0x1000, TEXT, 0x1f0);
	expect_section(&c.elf, ".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, BASE + 0x2000, DATA, 0x100);
	expect_section(&c.elf, "eightlet", SHT_PROGBITS, SHF_ALLOC, BASE + 0x3000, DEBUG, 0x100);
	expect_section(&c.elf, ".bss", SHT_NOBITS, SHF_ALLOC | SHF_WRITE, BASE + 0x4000, DATA, 0x5000);
	expect_section(&c.elf, ".debug_line", SHT_PROGBITS, 0, 0, LINES, 0x30);
	EXPECT_INT(c.elf.section_count, 10);
	expect_section(&c.elf, ".dynsym", SHT_DYNSYM, 0, 0, 0, 0);
	EXPECT_INT(c.elf.load_count, 3);
	const struct elf_load *load = elf_load_at(&c.elf, BASE + 0x22ff);
	EXPECT(load && load->offset == DATA && load->vaddr == BASE + 0x2000 && load->file_size == 0x100 && load->flags == (PF_R | PF_W));
	EXPECT(!elf_load_at(&c.elf, BASE + 0x2300));
	EXPECT(!elf_load_at(&c.elf, BASE + 0xa000));
	EXPECT_INT(c.made.head_size, sizeof(Elf64_Ehdr));
	struct elf_symtab tab = elf_symtab(&c.elf, elf_section(&c.elf, ".symtab"));
	EXPECT_INT(tab.count, 4);
	if (tab.count == 4) {
		expect_symbol(&tab, 0, "", 0, 0, 0, 0);
		expect_symbol(&tab, 1, "_main", BASE + 0x1010, 1, STT_FUNC, STB_GLOBAL);
		expect_symbol(&tab, 2, "a_function_with_long_name", BASE + 0x1030, 1, STT_FUNC, STB_LOCAL);
		expect_symbol(&tab, 3, "_a_label", BASE + 0x2008, 2, STT_NOTYPE, STB_WEAK);
	}
	close_converted(&c);
}

TEST("a 32-bit program of Windows has no underscore before its names")
{
	struct converted c;
	make(c.file, false, 0x14c);
	convert(&c, LENGTH);
	EXPECT(!c.elf.is64);
	EXPECT_INT(c.made.head_size, sizeof(Elf32_Ehdr));
	EXPECT_INT(c.elf.machine, EM_386);
	EXPECT_INT(c.elf.entry, 0x401010);
	expect_section(&c.elf, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x401000, TEXT, 0x1f0);
	EXPECT_INT(c.elf.load_count, 3);
	EXPECT(c.elf.loads[0].flags == (PF_R | PF_X));
	struct elf_symtab tab = elf_symtab(&c.elf, elf_section(&c.elf, ".symtab"));
	EXPECT_INT(tab.count, 4);
	if (tab.count == 4) {
		expect_symbol(&tab, 1, "main", 0x401010, 1, STT_FUNC, STB_GLOBAL);
		expect_symbol(&tab, 3, "a_label", 0x402008, 2, STT_NOTYPE, STB_WEAK);
	}
	close_converted(&c);
}

TEST("the build-id of a program of Windows is the GUID of its debug information")
{
	static const uint8_t want[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
	struct converted c;
	uint8_t id[ELF_BUILD_ID_MAX];
	for (unsigned is64 = 0; is64 < 2; is64++) {
		make(c.file, is64, is64 ? 0xaa64 : 0x1c4);
		convert(&c, LENGTH);
		EXPECT_INT(c.elf.machine, is64 ? EM_AARCH64 : EM_ARM);
		EXPECT_INT(elf_build_id(&c.elf, id), 16);
		EXPECT(memcmp(id, want, sizeof want) == 0);
		close_converted(&c);
	}
	/* a directory that ends before the entry, another signature, no directory */
	static const struct { size_t at; unsigned value; } changes[] = { { PE + 24 + 108 + 8 + 48, 55 }, { VIEW, 'r' }, { PE + 24 + 108, 6 } };
	for (unsigned i = 0; i < sizeof changes / sizeof *changes; i++) {
		make(c.file, true, 0x8664);
		c.file[changes[i].at] = (uint8_t)changes[i].value;
		convert(&c, LENGTH);
		EXPECT_INT(elf_build_id(&c.elf, id), 0);
		close_converted(&c);
	}
}

TEST("a file of debug information of a program of Windows has no dynamic symbols, and its sections no content")
{
	struct converted c;
	make(c.file, true, 0x8664);
	put(c.file, SECTIONS + 20, 0, 4);
	convert(&c, LENGTH);
	expect_section(&c.elf, ".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, BASE + 0x1000, 0, 0x1f0);
	expect_section(&c.elf, ".dynsym", SHT_NULL, 0, 0, 0, 0);
	EXPECT_INT(c.elf.load_count, 2);
	EXPECT_INT(elf_symtab(&c.elf, elf_section(&c.elf, ".symtab")).count, 4);
	close_converted(&c);
}

TEST("what a program of Windows claims beyond its end is left out")
{
	struct converted c;
	make(c.file, true, 0x8664);
	/* the last symbols and all long names are cut away */
	convert(&c, SYMBOLS + 3 * 18);
	struct elf_symtab tab = elf_symtab(&c.elf, elf_section(&c.elf, ".symtab"));
	EXPECT_INT(tab.count, 2);
	if (tab.count == 2)
		expect_symbol(&tab, 1, "_main", BASE + 0x1010, 1, STT_FUNC, STB_GLOBAL);
	EXPECT(!elf_section(&c.elf, ".debug_line"));
	close_converted(&c);
	/* the third section's header is cut */
	convert(&c, SECTIONS + 3 * 40 - 1);
	EXPECT_INT(c.elf.section_count, 7);
	EXPECT(!elf_section(&c.elf, "eightlet"));
	EXPECT_INT(elf_symtab(&c.elf, elf_section(&c.elf, ".symtab")).count, 0);
	close_converted(&c);
}

static void expect_refused(const uint8_t *file, size_t length, size_t most, enum error_kind kind)
{
	struct error err = { 0 };
	struct pe_elf made;
	EXPECT(pe_to_elf((struct span){ file, length }, TABLES_AT, most, &made, &err) < 0);
	EXPECT_INT(err.kind, kind);
	EXPECT_INT(made.tables.len, 0);
	writer_fini(&made.tables);
}

TEST("objects, unknown processors and programs beyond the limit are refused")
{
	uint8_t file[LENGTH];
	make(file, true, 0x8664);
	EXPECT(!pe_is((struct span){ file, PE + 3 }));
	EXPECT(!pe_is((struct span){ 0 }));
	expect_refused(file, LENGTH, 9 * 33, ERROR_LIMIT);
	expect_refused(file, PE + 24 + 19, 1 << 20, ERROR_FORMAT);
	put(file, PE + 6, 4097, 2);
	expect_refused(file, LENGTH, 1 << 20, ERROR_LIMIT);
	make(file, true, 0x1234);
	expect_refused(file, LENGTH, 1 << 20, ERROR_FORMAT);
	make(file, true, 0x8664);
	put(file, PE + 24, 0x107, 2);
	expect_refused(file, LENGTH, 1 << 20, ERROR_FORMAT);
	memcpy(file, "ZM", 2);
	EXPECT(!pe_is((struct span){ file, LENGTH }));
}
