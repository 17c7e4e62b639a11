#include "dwarf/relocate.h"

#include <elf.h>
#include <stdlib.h>

#include "base/memory.h"
#include "elf/symtab.h"

/* Absolute relocations and the size of their fields in bytes. */
static const struct {
	uint16_t machine;
	uint8_t size;
	uint32_t type;
} absolute[] = {
	{ EM_X86_64, 8, R_X86_64_64 }, { EM_X86_64, 4, R_X86_64_32 }, { EM_X86_64, 4, R_X86_64_32S }, { EM_386, 4, R_386_32 },
	{ EM_AARCH64, 8, R_AARCH64_ABS64 }, { EM_AARCH64, 4, R_AARCH64_ABS32 }, { EM_ARM, 4, R_ARM_ABS32 },
	{ EM_S390, 8, R_390_64 }, { EM_S390, 4, R_390_32 }, { EM_PPC64, 8, R_PPC64_ADDR64 }, { EM_PPC64, 4, R_PPC64_ADDR32 },
	{ EM_PPC, 4, R_PPC_ADDR32 }, { EM_RISCV, 8, R_RISCV_64 }, { EM_RISCV, 4, R_RISCV_32 }, { EM_MIPS, 4, R_MIPS_32 },
	{ EM_MIPS, 8, R_MIPS_64 }, { 258 /* LoongArch */, 4, 1 }, { 258, 8, 2 },
};

static unsigned relocation_size(uint16_t machine, uint32_t type)
{
	for (size_t i = 0; i < sizeof absolute / sizeof *absolute; i++)
		if (absolute[i].machine == machine && absolute[i].type == type)
			return absolute[i].size;
	return 0;
}

static const struct elf_section *relocations_of(const struct elf *elf, const struct elf_section *section)
{
	for (uint32_t i = 1; i < elf->section_count; i++) {
		const struct elf_section *s = &elf->sections[i];
		if ((s->type == SHT_RELA || s->type == SHT_REL) && s->info == elf_section_index(elf, section))
			return s;
	}
	return NULL;
}

static uint64_t symbol_address(const struct elf *elf, const struct elf_symtab *symbols, uint32_t index)
{
	if (index >= symbols->count)
		return 0;
	struct elf_symbol symbol = elf_symtab_get(symbols, index);
	return symbol.value + (symbol.section < elf->section_count ? elf->sections[symbol.section].address : 0);
}

/* Stores the value in one field. add: the addend is in the field, since the relocation has none. */
static void relocate_field(uint8_t *at, unsigned size, bool swap, bool add, uint64_t value)
{
	uint64_t old = 0;
	uint32_t half;
	if (size == 8) {
		memcpy(&old, at, 8);
		value += add ? swap ? __builtin_bswap64(old) : old : 0;
		value = swap ? __builtin_bswap64(value) : value;
		memcpy(at, &value, 8);
		return;
	}
	memcpy(&half, at, 4);
	half = (uint32_t)value + (add ? swap ? __builtin_bswap32(half) : half : 0);
	half = swap ? __builtin_bswap32(half) : half;
	memcpy(at, &half, 4);
}

uint8_t *dwarf_relocate(const struct elf *elf, const struct elf_section *section, struct span bytes)
{
	const struct elf_section *table = relocations_of(elf, section);
	if (!table || !bytes.len)
		return NULL;
	struct elf_relocations relocations = elf_relocations_all(elf, table);
	struct elf_symtab symbols = table->link < elf->section_count ? elf_symtab(elf, &elf->sections[table->link]) :
		(struct elf_symtab){ 0 };
	uint8_t *copy = memory_alloc(bytes.len);
	memcpy(copy, bytes.data, bytes.len);
	for (uint32_t i = 0; i < relocations.count; i++) {
		struct elf_relocation r = elf_relocation_get(&relocations, i);
		unsigned size = relocation_size(elf->machine, r.type);
		if (!size || r.offset > bytes.len || size > bytes.len - r.offset)
			continue;
		relocate_field(copy + r.offset, size, elf->swap, !relocations.addends, symbol_address(elf, &symbols, r.symbol) + (uint64_t)r.addend);
	}
	return copy;
}
