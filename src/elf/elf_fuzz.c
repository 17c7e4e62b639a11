#include "elf/elf.h"

#include <stdlib.h>

#include "elf/module_layout.h"
#include "elf/symbol_version.h"
#include "elf/symtab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Opens the bytes as an ELF file and reads all of its parts. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf elf;
	uint8_t id[ELF_BUILD_ID_MAX];
	uint32_t crc;
	uint64_t sum = elf_notes_build_id((struct span){ data, size }, false, id);
	if (elf_open(&elf, (struct span){ data, size }, NULL) < 0)
		return 0;
	sum += elf_build_id(&elf, id);
	char link[64];
	sum += elf_debuglink(&elf, link, sizeof link, &crc);
	for (uint32_t i = 0; i < elf.section_count; i++) {
		struct span bytes;
		void *owned;
		if (elf_section_inflate(&elf, &elf.sections[i], SIZE_MAX, &bytes, &owned, NULL) == 0 && bytes.len)
			sum += bytes.data[bytes.len - 1];
		free(owned);
		sum += elf_strings(&elf, &elf.sections[i]).len;
		struct elf_symtab tab = elf_symtab(&elf, &elf.sections[i]);
		for (uint32_t k = 0; k < tab.count; k++) {
			struct elf_symbol symbol = elf_symtab_get(&tab, k);
			sum += (uint64_t)*symbol.name + symbol.section;
			sum += elf_load_at(&elf, symbol.value) != NULL;
		}
		struct elf_relocations rels = elf_relocations(&elf, &elf.sections[i]);
		for (uint32_t k = 0; k < rels.count; k++)
			sum += elf_relocation_get(&rels, k).offset;
	}
	uint64_t address;
	sum += elf_symbol_version(&elf, "f@V_1", &address) + elf_symbol_version(&elf, "f", &address);
	module_layout(&elf);
	elf_close(&elf);
	__asm__ volatile("" : : "r"(sum)); /* keeps the compiler from dropping the reads */
	return 0;
}
