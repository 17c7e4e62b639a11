#include "symbol/demangle.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = memory_alloc(size + 1);
	if (size)
		memcpy(name, data, size);
	name[size] = '\0';
	for (int params = 0; params < 2; params++) {
		struct demangler demangler = { .params = params };
		char *text = name_demangle(&demangler, name);
		size_t len = text ? strlen(text) : 0;
		__asm__ volatile("" : : "r"(len)); /* keeps the compiler from dropping the reads */
		free(text);
	}
	free(name);
	return 0;
}
