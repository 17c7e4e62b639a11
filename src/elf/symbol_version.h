/* Versions of the dynamic symbols that a library defines ("memcpy@@GLIBC_2.14"). Format: Linux Standard Base, "Symbol Versioning"
 * (.gnu.version, .gnu.version_d). Knows no table of symbols. */
#pragma once
#include "elf/elf.h"

/* Finds the symbol "NAME@VERSION", "NAME@@VERSION" of which the version is the default, or "NAME", of the default version. False: the
 * library defines none. address: as linked. */
bool elf_symbol_version(const struct elf *elf, const char *name, uint64_t *address);
