#include "dwarf/relocate.h"

#include "elf/elf_maker.h"
#include "unit.h"

struct entry {
	uint64_t offset, addend;
	uint32_t symbol, type;
};

/* Relocates a section of 16 bytes, in which each field is 3. */
static uint8_t *relocated_bytes(uint16_t machine, bool big, bool addends, const struct entry *entries, unsigned count)
{
	struct maker m = maker_new(true, big, machine, ET_REL);
	uint8_t fields[16] = { 0 }, table[24 * 4] = { 0 };
	maker_put(&m, fields, 3, 8);
	maker_put(&m, fields + 8, 3, 4);
	unsigned text = maker_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x400, NULL, 0x100);
	unsigned info = maker_section(&m, ".debug_info", SHT_PROGBITS, 0, 0, fields, sizeof fields);
	unsigned symbols = maker_symtab(&m, ".symtab", ".strtab", SHT_SYMTAB);
	maker_symbol(&m, symbols, "f", 0x20, 8, STB_GLOBAL, STT_FUNC, text);
	unsigned each = addends ? 24 : 16;
	for (unsigned i = 0; i < count; i++) {
		maker_put(&m, table + i * each, entries[i].offset, 8);
		maker_put(&m, table + i * each + 8, (uint64_t)entries[i].symbol << 32 | entries[i].type, 8);
		if (addends)
			maker_put(&m, table + i * each + 16, entries[i].addend, 8);
	}
	unsigned list = maker_section(&m, ".rel", addends ? SHT_RELA : SHT_REL, 0, 0, table, count * each);
	m.sections[list].link = symbols;
	m.sections[list].info = info;
	size_t len;
	uint8_t *file = maker_finish(&m, &len);
	struct elf elf;
	EXPECT_INT(elf_open(&elf, (struct span){ file, len }, NULL), 0);
	const struct elf_section *section = elf_section(&elf, ".debug_info");
	uint8_t *out = dwarf_relocate(&elf, section, elf_section_bytes(&elf, section));
	EXPECT(out && !dwarf_relocate(&elf, elf_section(&elf, ".text"), elf_section_bytes(&elf, elf_section(&elf, ".text"))));
	elf_close(&elf);
	free(file);
	return out;
}

/* Reads a field in the file's byte order. */
static uint64_t read_field(const uint8_t *at, size_t width, bool big)
{
	uint64_t value = 0;
	for (size_t i = 0; i < width; i++)
		value = value << 8 | at[big ? i : width - 1 - i];
	return value;
}

TEST("fields of an object file get the address of their symbol plus the addend of the relocation or of the field")
{
	static const struct entry entries[] = { { 0, 5, 1, R_X86_64_64 }, { 8, 7, 1, R_X86_64_32 }, { 12, 1, 1, 999 },
		{ 13, 1, 1, R_X86_64_32 } };
	uint8_t *out = relocated_bytes(EM_X86_64, false, true, entries, 4);
	EXPECT(read_field(out, 8, false) == 0x425 && read_field(out + 8, 4, false) == 0x427 && read_field(out + 12, 4, false) == 0);
	free(out);
	out = relocated_bytes(EM_X86_64, false, false, entries, 2);
	EXPECT(read_field(out, 8, false) == 0x423 && read_field(out + 8, 4, false) == 0x423);
	free(out);
}

TEST("fields of the other byte order are relocated in that order, and an invalid symbol index counts as 0")
{
	static const struct entry entries[] = { { 0, 5, 1, R_390_64 }, { 8, 7, 77, R_390_32 } };
	uint8_t *out = relocated_bytes(EM_S390, true, true, entries, 2);
	EXPECT(read_field(out, 8, true) == 0x425 && read_field(out + 8, 4, true) == 7);
	free(out);
}
