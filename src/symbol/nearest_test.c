#include "symbol/nearest.h"

#include "elf/elf_maker.h"
#include "unit.h"

/* A file with .text at 0x1000, 0x100 bytes, and the table that `fill` writes. */
static uint8_t *file_of(void (*fill)(struct maker *m, unsigned tab, unsigned text), struct elf *elf)
{
	struct maker m = maker_new(true, false, EM_X86_64, ET_EXEC);
	size_t len;
	unsigned text = maker_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, NULL, 0x100);
	unsigned tab = maker_symtab(&m, ".symtab", ".strtab", SHT_SYMTAB);
	fill(&m, tab, text);
	uint8_t *file = maker_finish(&m, &len);
	EXPECT_INT(elf_open(elf, (struct span){ file, len }, NULL), 0);
	return file;
}

static void expect(const struct elf *elf, uint64_t address, const char *function, const char *file)
{
	struct nearest nearest;
	const char *found;
	nearest_init(&nearest, elf);
	const char *name = nearest_function(&nearest, elf, address, &found);
	EXPECT_STR(name ? name : "", function);
	EXPECT_STR(found ? found : "", file);
	nearest_fini(&nearest);
}

static void expect_entry(const struct elf *elf, uint64_t entry, const char *function)
{
	struct nearest nearest;
	nearest_init(&nearest, elf);
	const char *name = nearest_entry(&nearest, elf, entry);
	EXPECT_STR(name ? name : "", function);
	nearest_fini(&nearest);
}

static void two_files(struct maker *m, unsigned tab, unsigned text)
{
	maker_symbol(m, tab, "one.c", 0, 0, STB_LOCAL, STT_FILE, SHN_ABS);
	maker_symbol(m, tab, "first", 0x1000, 0x10, STB_LOCAL, STT_FUNC, text);
	maker_symbol(m, tab, "two.c", 0, 0, STB_LOCAL, STT_FILE, SHN_ABS);
	maker_symbol(m, tab, "second", 0x1020, 0x10, STB_LOCAL, STT_FUNC, text);
	maker_symbol(m, tab, "table", 0x1050, 0x10, STB_LOCAL, STT_OBJECT, text);
	maker_symbol(m, tab, "global", 0x1040, 0x10, STB_GLOBAL, STT_FUNC, text);
}

TEST("a local function has the file entry above it; a global one has none if there are several files")
{
	struct elf elf;
	uint8_t *file = file_of(two_files, &elf);
	expect(&elf, 0x1004, "first", "one.c");
	expect(&elf, 0x1020, "second", "two.c");
	expect(&elf, 0x1038, "second", "two.c"); /* beyond its end, but no other function precedes */
	expect(&elf, 0x1058, "global", "");
	expect(&elf, 0xfff, "", "");
	expect(&elf, 0x1100, "", "");
	elf_close(&elf);
	free(file);
}

static void one_place(struct maker *m, unsigned tab, unsigned text)
{
	maker_symbol(m, tab, "label", 0x1000, 0, STB_LOCAL, STT_NOTYPE, text);
	maker_symbol(m, tab, "small", 0x1000, 4, STB_LOCAL, STT_FUNC, text);
	maker_symbol(m, tab, "large", 0x1000, 0x20, STB_LOCAL, STT_FUNC, text);
	maker_symbol(m, tab, "alias", 0x1000, 0x20, STB_LOCAL, STT_FUNC, text);
}

TEST("of functions at one address the longest is used, of these the first, as in binutils")
{
	struct elf elf;
	uint8_t *file = file_of(one_place, &elf);
	expect(&elf, 0x1000, "large", "");
	expect(&elf, 0x1002, "large", "");
	expect(&elf, 0x1030, "large", "");
	expect_entry(&elf, 0x1000, "large");
	expect_entry(&elf, 0x1004, "");
	elf_close(&elf);
	free(file);
}

static void nothing(struct maker *m, unsigned tab, unsigned text)
{
	(void)m;
	(void)tab;
	(void)text;
}

TEST("a file without functions yields none")
{
	struct elf elf;
	uint8_t *file = file_of(nothing, &elf);
	expect(&elf, 0x1000, "", "");
	elf_close(&elf);
	free(file);
}
