/* A symbol table out of ELF files: which entries become symbols and where they lie, as perf has it. Knows no path. */
#pragma once
#include <stdint.h>

#include "elf/elf.h"
#include "symbol/table.h"

enum elf_use {
	ELF_USE_FILE,     /* symbols at file offsets */
	ELF_USE_KERNEL,   /* at addresses, moved by where the kernel was loaded */
	ELF_USE_KMODULE,  /* at distances from the module's .text */
};

struct elf_load_request {
	const struct elf *symbols;   /* the file with the symbol table: may be a debug file */
	const struct elf *runtime;   /* the file that runs: sections a debug file leaves empty, descriptors, the PLT */
	const struct elf *dynamic;   /* whose .dynsym is read too: one of the two */
	enum elf_use use;
	const char *relocation_symbol; /* ELF_USE_KERNEL: where this one is now … */
	uint64_t relocation;           /* … 0: not moved */
	const char *section;           /* ELF_USE_KERNEL: symbols of this one alone; NULL: of .text, or all where there is no such */
	const struct demangler *demangler;
	struct arena *names;         /* for names that no file holds ("x@plt"); the others borrow from the files */
};

bool elf_has_symtab(const struct elf *elf);
bool elf_has_dynsym(const struct elf *elf);
bool elf_has_opd(const struct elf *elf);

/* How far a kernel was moved when its symbol of that name was seen at address; 0 where there is none or no address. */
uint64_t load_elf_relocation(const struct elf *kernel, const char *name, uint64_t address);

/* Fills the table (empty where nothing is worth a name). */
void load_elf(const struct elf_load_request *request, struct symbol_table *table);
