/* Names for the stubs through which a file calls functions of others: "puts@plt". Symbol tables do not contain them; they follow from the
 * relocations that fill the stubs' slots. Knows no path. */
#pragma once
#include "symbol/load_elf.h"

/* Adds the stubs of request->runtime to the builder's symbols, at file offsets. */
void plt_symbols(const struct elf_load_request *request, struct table_builder *builder);
