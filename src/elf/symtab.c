#include "elf/symtab.h"

static uint32_t entries_of(struct span entries, size_t size)
{
	size_t count = entries.len / size;
	return count < ELF_SYMBOLS_LIMIT ? (uint32_t)count : ELF_SYMBOLS_LIMIT;
}

struct elf_symtab elf_symtab(const struct elf *elf, const struct elf_section *section)
{
	struct elf_symtab tab = { .is64 = elf->is64, .swap = elf->swap };
	if (!section || (section->type != SHT_SYMTAB && section->type != SHT_DYNSYM) || section->link >= elf->section_count)
		return tab;
	tab.entries = elf_section_bytes(elf, section);
	tab.strings = elf_strings(elf, &elf->sections[section->link]);
	tab.count = entries_of(tab.entries, elf->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym));
	for (uint32_t i = 1; i < elf->section_count; i++)
		if (elf->sections[i].type == SHT_SYMTAB_SHNDX && elf->sections[i].link == elf_section_index(elf, section))
			tab.indices = elf_section_bytes(elf, &elf->sections[i]);
	return tab;
}

uint32_t elf_symtab_extended_index(const struct elf_symtab *tab, uint32_t index)
{
	if (index >= tab->indices.len / 4)
		return SHN_XINDEX;
	uint32_t section = load_u32(tab->indices.data + (size_t)index * 4);
	return tab->swap ? __builtin_bswap32(section) : section;
}

struct elf_relocations elf_relocations_all(const struct elf *elf, const struct elf_section *section)
{
	struct elf_relocations rels = { .is64 = elf->is64, .swap = elf->swap };
	if (!section || (section->type != SHT_RELA && section->type != SHT_REL))
		return rels;
	rels.addends = section->type == SHT_RELA;
	rels.entries = elf_section_bytes(elf, section);
	size_t count = rels.entries.len / ((elf->is64 ? 8u : 4u) * (rels.addends ? 3 : 2));
	rels.count = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
	return rels;
}

struct elf_relocations elf_relocations(const struct elf *elf, const struct elf_section *section)
{
	struct elf_relocations rels = elf_relocations_all(elf, section);
	rels.count = rels.count < ELF_SYMBOLS_LIMIT ? rels.count : ELF_SYMBOLS_LIMIT;
	return rels;
}

struct elf_relocation elf_relocation_get(const struct elf_relocations *rels, uint32_t index)
{
	size_t size = (rels->is64 ? 8u : 4u) * (rels->addends ? 3 : 2);
	struct cursor c = cursor_of(rels->entries.data + index * size, size, rels->swap);
	struct elf_relocation r = { 0 };
	if (rels->is64) {
		r.offset = take_u64(&c);
		uint64_t info = take_u64(&c);
		r.symbol = (uint32_t)(info >> 32);
		r.type = (uint32_t)info;
		r.addend = rels->addends ? (int64_t)take_u64(&c) : 0;
	} else {
		r.offset = take_u32(&c);
		uint32_t info = take_u32(&c);
		r.symbol = info >> 8;
		r.type = info & 0xff;
		r.addend = rels->addends ? (int32_t)take_u32(&c) : 0;
	}
	return r;
}
