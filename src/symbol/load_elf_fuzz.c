#include "symbol/load_elf.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte selects the use of the file; the rest is the file, which is its own debug file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct demangler plain = { 0 };
	struct elf elf;
	if (!size || elf_open(&elf, (struct span){ data + 1, size - 1 }, NULL) < 0)
		return 0;
	struct arena names = { 0 };
	struct symbol_table table;
	struct elf_load_request request = { .symbols = &elf, .runtime = &elf, .dynamic = &elf, .use = data[0] % 3,
		.relocation_symbol = "_text", .relocation = data[0] & 8 ? 0xffffffff82000000 : 0, .demangler = &plain,
		.section = data[0] & 16 ? ".init.text" : NULL,
		.names = &names };
	load_elf(&request, &table);
	uint64_t sum = 0;
	for (uint32_t i = 0; i < table.count; i++) {
		sum += table_find(&table, table.symbols[i].start) + (uint64_t)*table.symbols[i].name;
		sum += table_find(&table, table.symbols[i].end);
		if (i && table.symbols[i].start < table.symbols[i - 1].start)
			abort();
	}
	table_fini(&table);
	arena_fini(&names);
	elf_close(&elf);
	__asm__ volatile("" : : "r"(sum)); /* keeps the compiler from dropping the reads */
	return 0;
}
