/* Computes the addresses of a kernel module's sections (ET_REL) after loading, as Linux does (kernel/module/main.c): core code is laid out
 * section by section, in the order of the file, from the module's address on. */
#pragma once
#include "elf/elf.h"

/* Sections at unrelated addresses (data, init code) are placed after this address, beyond any module's code. */
static inline uint64_t module_elsewhere(const struct elf *elf)
{
	return (uint64_t)1 << (elf->is64 ? 40 : 30);
}

/* Sets the addresses of loaded sections, relative to the module's. Files of other types are not changed. */
void module_layout(struct elf *elf);
