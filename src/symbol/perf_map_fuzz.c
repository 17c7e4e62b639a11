#include "symbol/perf_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = memory_alloc(size + 1), *owned;
	if (size)
		memcpy(text, data, size);
	struct symbol_table table;
	perf_map_parse(text, size, &table, &owned);
	uint64_t sum = 0;
	for (uint32_t i = 0; i < table.count; i++) {
		sum += strlen(table.symbols[i].name) + table_find(&table, table.symbols[i].start + 1);
		if (i && table.symbols[i].start < table.symbols[i - 1].start)
			abort();
	}
	table_fini(&table);
	free(owned);
	__asm__ volatile("" : : "r"(sum)); /* keeps the compiler from dropping the reads */
	return 0;
}
