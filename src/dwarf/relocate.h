/* Debug sections of object files and kernel modules, which are not linked: applies their absolute relocations. Format: the psABIs.
 * Sections lie at the addresses of their headers, mostly 0. */
#pragma once
#include "elf/elf.h"

/* Returns a copy of the section's bytes with relocations applied, malloc'ed; NULL: it has no relocations. */
uint8_t *dwarf_relocate(const struct elf *elf, const struct elf_section *section, struct span bytes);
