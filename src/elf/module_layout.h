/* Where the sections of a kernel module (ET_REL) lie once it is loaded. Format: none; what Linux does (kernel/module/main.c):
 * code that stays is laid out section by section, in the order of the file, from the module's address on. */
#pragma once
#include "elf/elf.h"

/* What lies elsewhere in memory (data, what runs at loading alone) is put behind this, where no module's code reaches. */
static inline uint64_t module_elsewhere(const struct elf *elf)
{
	return (uint64_t)1 << (elf->is64 ? 40 : 30);
}

/* Gives the sections that are loaded their addresses, counted from the module's. Files of other types stay as they are. */
void module_layout(struct elf *elf);
