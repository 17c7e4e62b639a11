/* Look-up in a symbol table without debug information: the function before an address and, for a local function, its source file (the
 * STT_FILE entry above it). Same results as libbfd, which perf uses. Knows no module and no DWARF. */
#pragma once
#include <stdint.h>

#include "elf/elf.h"

struct nearest_symbol;

struct nearest {
	struct nearest_symbol *symbols; /* by section and value, equal ones in table order */
	uint32_t count;
};

/* Names are borrowed from the file. */
void nearest_init(struct nearest *nearest, const struct elf *elf);
void nearest_fini(struct nearest *nearest);

/* address: as linked. NULL: no function before it in its section. *file: NULL if the table has none. */
const char *nearest_function(const struct nearest *nearest, const struct elf *elf, uint64_t address, const char **file);
/* The function that starts at `entry`; NULL if absent. */
const char *nearest_entry(const struct nearest *nearest, const struct elf *elf, uint64_t entry);
