/* Functions of Go programs without a symbol table (`go build -ldflags=-s`): the Go runtime needs their names and extents, and stores both
 * in .gopclntab. Format: Go's src/internal/abi and src/debug/gosym, version 1.18 and later. Knows no path. */
#pragma once
#include "elf/elf.h"
#include "symbol/table.h"

bool go_table_has(const struct elf *elf);
/* Adds the functions at file offsets. Names are borrowed from the file. */
void go_table_symbols(const struct elf *elf, struct table_builder *builder);
