#include "elf/module_layout.h"

#include <stdlib.h>

#include "elf/elf_maker.h"
#include "unit.h"

static struct elf made(uint16_t type, uint8_t **file)
{
	struct maker m = maker_new(true, false, EM_X86_64, type);
	uint64_t code = SHF_ALLOC | SHF_EXECINSTR;
	maker_section(&m, ".note", SHT_NOTE, SHF_ALLOC, 0, NULL, 0x24);
	maker_section(&m, ".text", SHT_PROGBITS, code, 0, NULL, 0x101);
	maker_section(&m, ".init.text", SHT_PROGBITS, code, 0, NULL, 0x40);
	maker_section(&m, ".exit.text", SHT_NOBITS, code, 0, NULL, 0x20);
	maker_section(&m, ".debug_info", SHT_PROGBITS, 0, 0, NULL, 0x10);
	m.sections[4].align = 16;
	size_t len;
	*file = maker_finish(&m, &len);
	struct elf elf;
	EXPECT_INT(elf_open(&elf, (struct span){ *file, len }, NULL), 0);
	module_layout(&elf);
	return elf;
}

TEST("a module's code sections follow each other, without init code")
{
	uint8_t *file;
	struct elf elf = made(ET_REL, &file);
	EXPECT_INT(elf.sections[2].address, 0);
	EXPECT_INT(elf.sections[4].address, 0x110);
	EXPECT(elf.sections[1].address >= module_elsewhere(&elf) && elf.sections[3].address >= elf.sections[1].address + 0x24);
	EXPECT_INT(elf.sections[5].address, 0);
	elf_close(&elf);
	free(file);
}

TEST("addresses of a 32-bit module fit into its debug information")
{
	struct elf_section sections[] = { { .name = "" }, { .name = ".init.text", .flags = SHF_ALLOC | SHF_EXECINSTR, .size = 8, .align = 4 } };
	struct elf elf = { .type = ET_REL, .sections = sections, .section_count = 2 };
	module_layout(&elf);
	EXPECT(sections[1].address == module_elsewhere(&elf) && sections[1].address < UINT32_MAX);
}

TEST("a linked file is not changed")
{
	uint8_t *file;
	struct elf elf = made(ET_DYN, &file);
	EXPECT_INT(elf.sections[4].address, 0);
	elf_close(&elf);
	free(file);
}

TEST("invalid sizes and alignments are harmless")
{
	struct elf_section sections[] = { { .name = "" },
		{ .name = ".text", .flags = SHF_ALLOC | SHF_EXECINSTR, .size = UINT64_MAX, .align = UINT64_MAX },
		{ .name = ".a", .flags = SHF_ALLOC | SHF_EXECINSTR, .size = 8, .align = (uint64_t)1 << 63 },
		{ .name = ".b", .flags = SHF_ALLOC | SHF_EXECINSTR, .size = 8, .align = 24 } };
	struct elf elf = { .is64 = true, .type = ET_REL, .sections = sections, .section_count = 4 };
	module_layout(&elf);
	EXPECT_INT(sections[2].address, 0);
	EXPECT_INT(sections[3].address, 8);
}
