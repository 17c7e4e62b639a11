#include "symbol/kallsyms.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = memory_alloc(size + 1);
	if (size)
		memcpy(text, data, size);
	uint64_t sum = kallsyms_address(text, size, "_text");
	struct kallsyms k;
	kallsyms_parse(&k, text, size);
	for (uint32_t i = 0; i < k.kernel.count; i++) {
		sum += strlen(k.kernel.symbols[i].name) + table_find(&k.kernel, k.kernel.symbols[i].start);
		if (i && k.kernel.symbols[i].start < k.kernel.symbols[i - 1].start)
			abort();
	}
	struct symbol_table table;
	kallsyms_module(&k, "[ext4]", 0xffffffffc0000000, &table);
	sum += table_find(&table, 16);
	table_fini(&table);
	kallsyms_fini(&k);
	__asm__ volatile("" : : "r"(sum)); /* keeps the compiler from dropping the reads */
	return 0;
}
