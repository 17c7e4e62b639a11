/* Reads any bytes as a program of Windows. Whatever they are, the ELF file that they become opens, and its symbols are in it. */
#include "elf/pe_image.h"

#include <stdlib.h>

#include "elf/elf.h"
#include "elf/symtab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { MOST = 1 << 20 };
	static volatile uint64_t sink;
	struct pe_elf made;
	struct elf elf;
	uint8_t id[ELF_BUILD_ID_MAX];
	struct span bytes = { data, size };
	if (!pe_is(bytes))
		return 0;
	size_t tables_at = (size + 7) & ~(size_t)7;
	if (pe_to_elf(bytes, tables_at, MOST, &made, NULL) == 0) {
		size_t whole = tables_at + made.tables.len;
		uint8_t *file = calloc(1, whole);
		memcpy(file, data, size);
		memcpy(file, made.head, made.head_size);
		memcpy(file + tables_at, made.tables.buffer, made.tables.len);
		if (made.tables.len > MOST || elf_open(&elf, (struct span){ file, whole }, NULL) < 0 || !elf.section_count)
			abort();
		uint64_t sum = elf_build_id(&elf, id);
		struct elf_symtab tab = elf_symtab(&elf, elf_section(&elf, ".symtab"));
		for (uint32_t i = 0; i < tab.count; i++) {
			struct elf_symbol symbol = elf_symtab_get(&tab, i);
			sum += strlen(symbol.name) + (elf_load_at(&elf, symbol.value) != NULL);
			if (symbol.section >= elf.section_count)
				abort();
		}
		for (uint32_t i = 0; i < elf.section_count; i++)
			sum += strlen(elf.sections[i].name);
		sink += sum;
		elf_close(&elf);
		free(file);
	}
	writer_fini(&made.tables);
	return 0;
}
