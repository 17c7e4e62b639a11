#include "elf/symbol_version.h"

#include "elf/elf_maker.h"
#include "unit.h"

enum { HIDDEN = 0x8000 };

/* .gnu.version_d: the file's own name, V_1 with a bit that is no part of its number, V_2; next of the last entry as given. */
static unsigned add_versions(struct maker *m, unsigned strings, const uint32_t *names, unsigned count, uint32_t last)
{
	uint8_t entries[4][28] = { 0 };
	for (unsigned i = 0; i < count; i++) {
		maker_put(m, entries[i], 1, 2);
		maker_put(m, entries[i] + 4, i == 1 ? 2 | HIDDEN : i + 1, 2);
		maker_put(m, entries[i] + 6, 1, 2);
		maker_put(m, entries[i] + 12, 20, 4);
		maker_put(m, entries[i] + 16, i + 1 < count ? 28 : last, 4);
		maker_put(m, entries[i] + 20, names[i], 4);
	}
	unsigned section = maker_section(m, ".gnu.version_d", SHT_GNU_verdef, 0, 0, entries, count * sizeof *entries);
	m->sections[section].link = strings;
	return section;
}

/* f@V_1 at 0x100, f@@V_2 at 0x200, g@@V_1 at 0x300, an undefined f of V_2, fg@@V_2 at 0x400. */
static struct span make(struct maker *m, uint32_t last)
{
	static const struct {
		const char *name;
		uint64_t value;
		unsigned section;
		uint16_t version;
	} symbols[] = {
		{ "f", 0, SHN_UNDEF, 3 }, { "fg", 0x400, 1, 3 }, { "f", 0x100, 1, 2 | HIDDEN }, { "f", 0x200, 1, 3 }, { "g", 0x300, 1, 2 },
	};
	static const char names[] = "libv.so\0V_1\0V_2";
	uint8_t numbers[2 * (1 + sizeof symbols / sizeof *symbols)] = { 0 };
	maker_section(m, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x100, "code", 4);
	unsigned table = maker_symtab(m, ".dynsym", ".dynstr", SHT_DYNSYM), strings = m->sections[table].link;
	uint32_t at = (uint32_t)m->sections[strings].len, offsets[] = { at, at + 8, at + 12 };
	maker_append(m, strings, names, sizeof names);
	for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
		maker_symbol(m, table, symbols[i].name, symbols[i].value, 4, STB_GLOBAL, STT_FUNC, symbols[i].section);
		maker_put(m, numbers + 2 * (i + 1), symbols[i].version, 2);
	}
	maker_section(m, ".gnu.version", SHT_GNU_versym, 0, 0, numbers, sizeof numbers);
	add_versions(m, strings, offsets, 3, last);
	size_t len;
	uint8_t *file = maker_finish(m, &len);
	return (struct span){ file, len };
}

static const struct {
	const char *name;
	uint64_t address;             /* 0: none */
} cases[] = {
	{ "f@V_1", 0x100 }, { "f@V_2", 0x200 }, { "f@@V_2", 0x200 }, { "f@@V_1", 0 }, { "f", 0x200 }, { "g@V_1", 0x300 }, { "g@@V_1", 0x300 },
	{ "g@V_2", 0 }, { "g", 0x300 }, { "f@V_3", 0 }, { "f@V_", 0 }, { "f@", 0 }, { "", 0 }, { "fg", 0x400 }, { "h", 0 }, { "f@libv.so", 0 },
};

TEST("versions select symbols in files of each class and byte order; the last entry may claim that others follow")
{
	for (unsigned form = 0; form < 8; form++) {
		struct maker m = maker_new(form & 1, form & 2, EM_X86_64, ET_DYN);
		struct span file = make(&m, form & 4 ? 28 : 0);
		struct elf elf;
		EXPECT_INT(elf_open(&elf, file, NULL), 0);
		for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
			uint64_t address = 0;
			EXPECT_INT(elf_symbol_version(&elf, cases[i].name, &address), cases[i].address != 0);
			EXPECT_INT(address, cases[i].address);
		}
		elf_close(&elf);
		free((void *)file.data);
	}
}

TEST("a file without versions has none")
{
	struct maker m = maker_new(true, false, EM_X86_64, ET_DYN);
	unsigned table = maker_symtab(&m, ".dynsym", ".dynstr", SHT_DYNSYM);
	uint64_t address;
	struct elf elf;
	maker_symbol(&m, table, "f", 0x100, 4, STB_GLOBAL, STT_FUNC, 1);
	size_t len;
	uint8_t *file = maker_finish(&m, &len);
	EXPECT_INT(elf_open(&elf, (struct span){ file, len }, NULL), 0);
	EXPECT(!elf_symbol_version(&elf, "f", &address) && !elf_symbol_version(&elf, "f@V_1", &address));
	elf_close(&elf);
	free(file);
}
