/* The symbol and relocation tables of an ELF file, entry by entry, as stored. Format: gABI "Symbol Table", "Relocation". The caller selects
 * the entries that become symbols. */
#pragma once
#include <elf.h>

#include "elf/elf.h"

/* Limit on the entries of one table. */
#define ELF_SYMBOLS_LIMIT (8u << 20)

struct elf_symbol {
	const char *name;      /* "" if the table's string is invalid */
	uint64_t value, size;
	uint32_t section;      /* index; SHN_UNDEF, SHN_ABS … as stored, SHN_XINDEX resolved */
	uint8_t type, binding, visibility;
	bool named;            /* whether it has a name, without reading the string: strings are far apart, and most are never read */
};

struct elf_symtab {
	struct span entries, strings, indices; /* indices: of SHT_SYMTAB_SHNDX, or empty */
	uint32_t count;
	bool is64, swap;
};

/* The table in that section (SHT_SYMTAB or SHT_DYNSYM); count 0 if it is damaged. */
struct elf_symtab elf_symtab(const struct elf *elf, const struct elf_section *section);

uint32_t elf_symtab_extended_index(const struct elf_symtab *tab, uint32_t index);

static inline struct elf_symbol elf_symtab_get(const struct elf_symtab *tab, uint32_t index)
{
	struct elf_symbol out;
	uint32_t name;
	uint8_t info, other;
	uint16_t section;
	if (tab->is64) {
		Elf64_Sym s;
		memcpy(&s, tab->entries.data + (size_t)index * sizeof s, sizeof s);
		name = tab->swap ? __builtin_bswap32(s.st_name) : s.st_name;
		section = tab->swap ? __builtin_bswap16(s.st_shndx) : s.st_shndx;
		out.value = tab->swap ? __builtin_bswap64(s.st_value) : s.st_value;
		out.size = tab->swap ? __builtin_bswap64(s.st_size) : s.st_size;
		info = s.st_info;
		other = s.st_other;
	} else {
		Elf32_Sym s;
		memcpy(&s, tab->entries.data + (size_t)index * sizeof s, sizeof s);
		name = tab->swap ? __builtin_bswap32(s.st_name) : s.st_name;
		section = tab->swap ? __builtin_bswap16(s.st_shndx) : s.st_shndx;
		out.value = tab->swap ? __builtin_bswap32(s.st_value) : s.st_value;
		out.size = tab->swap ? __builtin_bswap32(s.st_size) : s.st_size;
		info = s.st_info;
		other = s.st_other;
	}
	out.named = name != 0;
	out.name = name < tab->strings.len ? (const char *)tab->strings.data + name : "";
	out.section = section == SHN_XINDEX ? elf_symtab_extended_index(tab, index) : section;
	out.type = info & 15;
	out.binding = info >> 4;
	out.visibility = other & 3;
	return out;
}

struct elf_relocation {
	uint64_t offset;
	int64_t addend;        /* 0 for SHT_REL */
	uint32_t symbol, type;
};

struct elf_relocations {
	struct span entries;
	uint32_t count;
	bool is64, swap, addends;
};

/* The table in that section (SHT_RELA or SHT_REL); count 0 if it is damaged. */
struct elf_relocations elf_relocations(const struct elf *elf, const struct elf_section *section);
/* The same without a limit: the debug information of large kernel modules has tens of millions of entries. */
struct elf_relocations elf_relocations_all(const struct elf *elf, const struct elf_section *section);
struct elf_relocation elf_relocation_get(const struct elf_relocations *rels, uint32_t index);
