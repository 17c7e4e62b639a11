/* Reads a symbol table from ELF files (elf(5)): selects the entries that become symbols and their offsets, as perf does. Knows no path. */
#pragma once
#include <stdint.h>

#include "elf/elf.h"
#include "symbol/table.h"

enum elf_use {
	ELF_USE_FILE,     /* symbols at file offsets */
	ELF_USE_KERNEL,   /* at addresses, plus the kernel's relocation */
	ELF_USE_KMODULE,  /* at distances from the module's .text */
};

struct elf_load_request {
	const struct elf *symbols;   /* the file with the symbol table; may be a debug file */
	const struct elf *runtime;   /* the file that runs: has the sections that are empty in a debug file, descriptors, the PLT */
	const struct elf *dynamic;   /* the file whose .dynsym is read, too: one of the two */
	enum elf_use use;
	const char *relocation_symbol; /* ELF_USE_KERNEL: the symbol whose current address is … */
	uint64_t relocation;           /* … this; 0: not moved */
	const char *section;           /* ELF_USE_KERNEL: only symbols of this section; NULL: of .text, or all if there is no .text */
	const struct demangler *demangler;
	bool aliases;                /* several symbols at an address are retained */
	bool unsearched;             /* as in table_builder */
	struct budget *budget;       /* reserves memory for the tables before they are read; NULL: no limit */
	struct arena *names;         /* owns names that are in no file ("x@plt"); other names are borrowed from the files */
};

bool elf_has_symtab(const struct elf *elf);
bool elf_has_dynsym(const struct elf *elf);
bool elf_has_opd(const struct elf *elf);

/* How far a kernel was moved, given the current address of its symbol of that name; 0 if either is absent. */
uint64_t load_elf_relocation(const struct elf *kernel, const char *name, uint64_t address);

/* Fills the table; it is empty if no symbol qualifies, or the budget refuses it. Returns the bytes taken from the budget, which the caller
 * gives back. */
size_t load_elf(const struct elf_load_request *request, struct symbol_table *table);
