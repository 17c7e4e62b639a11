#include "symbol/packed.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t ask(const struct packed_symbols *symbols)
{
	struct symbol symbol;
	uint64_t sum = 0;
	for (uint32_t id = 1; id <= symbols->count; id++) {
		packed_get(symbols, id, &symbol);
		sum += strlen(symbol.name) + packed_find(symbols, symbol.start) + packed_find(symbols, symbol.end);
	}
	return sum;
}

/* The checksum is not compared: reading has to be safe also if it matches by chance. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct packed_list list;
	struct packed_symbols symbols;
	uint64_t state = 0;
	if (size >= 2 * sizeof state)
		memcpy(&state, data + sizeof state, sizeof state);
	if (packed_open(&list, (struct span){ data, size }, state, NULL) < 0)
		return 0;
	uint64_t sum = ask(&list.kernel);
	packed_module(&list, "[ext4]", 0xffffffffc0000000, &symbols);
	sum += ask(&symbols);
	__asm__ volatile("" : : "r"(sum)); /* keeps the compiler from dropping the reads */
	return 0;
}
