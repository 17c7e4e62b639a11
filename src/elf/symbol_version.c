#include "elf/symbol_version.h"

#include <string.h>

#include "elf/symtab.h"

enum { HIDDEN = 0x8000, NUMBER = 0x7fff };

static const char *string_at(struct span strings, uint32_t offset)
{
	return offset < strings.len ? (const char *)strings.data + offset : "";
}

static const struct elf_section *linked(const struct elf *elf, const struct elf_section *section)
{
	return section->link < elf->section_count ? &elf->sections[section->link] : NULL;
}

/* The number that stands for the version in the symbols' table; 0: the library defines no such version. */
static uint16_t version_number(const struct elf *elf, const char *version)
{
	const struct elf_section *section = elf_section(elf, ".gnu.version_d");
	const struct elf_section *names = section && section->type == SHT_GNU_verdef ? linked(elf, section) : NULL;
	if (!names)
		return 0;
	struct span bytes = elf_section_bytes(elf, section), strings = elf_strings(elf, names);
	/* each entry is at least as long as its header: a chain of entries that goes on for longer is damaged */
	for (size_t at = 0, left = bytes.len / sizeof(Elf64_Verdef); left && at < bytes.len; left--) {
		struct cursor c = cursor_of(bytes.data + at, bytes.len - at, elf->swap);
		take_u16(&c);                      /* the format's version, flags */
		take_u16(&c);
		uint16_t number = take_u16(&c);
		take_u16(&c);                      /* names of this entry: the first one is its own */
		take_u32(&c);
		uint32_t first = take_u32(&c), next = take_u32(&c);
		if (first < bytes.len - at) {
			struct cursor name = cursor_of(bytes.data + at + first, bytes.len - at - first, elf->swap);
			if (!strcmp(string_at(strings, take_u32(&name)), version))
				return number & NUMBER;
		}
		if (!next || next > bytes.len - at)
			break;
		at += next;
	}
	return 0;
}

bool elf_symbol_version(const struct elf *elf, const char *name, uint64_t *address)
{
	size_t len = strcspn(name, "@");
	bool given = name[len], chosen = given && name[len + 1] == '@';
	uint16_t number = given ? version_number(elf, name + len + 1 + chosen) : 0;
	const struct elf_section *numbers = elf_section(elf, ".gnu.version"), *symbols = elf_section(elf, ".dynsym");
	if ((given && !number) || !numbers || numbers->type != SHT_GNU_versym || !symbols || symbols->type != SHT_DYNSYM)
		return false;
	struct elf_symtab table = elf_symtab(elf, symbols);
	struct span bytes = elf_section_bytes(elf, numbers);
	struct cursor c = cursor_of(bytes.data, bytes.len, elf->swap);
	for (uint32_t i = 0; i < table.count && cursor_left(&c) >= 2; i++) {
		uint16_t version = take_u16(&c);
		if ((given && (version & NUMBER) != number) || ((chosen || !given) && version & HIDDEN))
			continue;
		struct elf_symbol symbol = elf_symtab_get(&table, i);
		if (symbol.section == SHN_UNDEF || strncmp(symbol.name, name, len) != 0 || symbol.name[len])
			continue;
		*address = symbol.value;
		return true;
	}
	return false;
}
