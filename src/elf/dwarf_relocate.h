/* Sections of object files and kernel modules: what no linker filled in yet. Format: the relocations of the psABIs that data
 * sections need, absolute ones. Sections lie where their headers say, mostly at 0. */
#pragma once
#include "elf/elf.h"

/* A copy of the section's bytes with its relocations applied, malloc'ed; NULL: it has none. */
uint8_t *dwarf_relocate(const struct elf *elf, const struct elf_section *section, struct span bytes);
