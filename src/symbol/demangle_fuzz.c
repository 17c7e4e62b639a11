#include "symbol/demangle.h"

#include <libiberty/demangle.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "symbol/demangle_plain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Both demanglers of C++ yield one text. */
static void compare(const char *name)
{
	enum { LIMIT = 4096 };
	struct str plain = { 0 };
	if (demangle_plain(name, LIMIT, &plain)) {
		char *other = cplus_demangle_v3(name, DMGL_NO_OPTS);
		if (plain.len > LIMIT || (other && strcmp(other, str_text(&plain)) != 0))
			abort();
		free(other);
	}
	str_fini(&plain);
}

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
	compare(name);
	free(name);
	return 0;
}
