/* Names for the stubs through which a file calls others: "puts@plt". No symbol table has them; they follow from the
 * relocations that fill the stubs' slots. Knows no path. */
#pragma once
#include "symbol/load_elf.h"

/* Adds the stubs of request->runtime to what stands, at file offsets. */
void plt_symbols(const struct elf_load_request *request, struct table_builder *builder);
