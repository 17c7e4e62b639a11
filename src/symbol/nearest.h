/* What a symbol table alone tells of code without debug information: the function before an address and, where it is a local
 * one, the source file it came from (the STT_FILE entry above it). Answers as libbfd does, which is what perf asks. Knows no
 * module and no DWARF. */
#pragma once
#include <stdint.h>

#include "elf/elf.h"

struct nearest_symbol;

struct nearest {
	struct nearest_symbol *symbols; /* by section and value, equal ones as in the table */
	uint32_t count;
};

/* Names are borrowed from the file. */
void nearest_init(struct nearest *nearest, const struct elf *elf);
void nearest_fini(struct nearest *nearest);

/* address: as linked. NULL: no function before it in its section. *file: NULL where the table tells none. */
const char *nearest_function(const struct nearest *nearest, const struct elf *elf, uint64_t address, const char **file);
/* The function that starts at `entry`; NULL: none. */
const char *nearest_entry(const struct nearest *nearest, const struct elf *elf, uint64_t entry);
