/* Programs of Windows (PE and its symbols, COFF) as ELF files: what Wine and .NET map becomes readable by everything that reads ELF.
 * Source: "PE Format", Microsoft. Pure: bytes in, bytes out; knows no file.
 *
 * The ELF file is the program with another header: sections and their contents have the same offsets, since mappings are recorded by them.
 * Section headers, segments, symbols and the build-id follow the program's end. Only images have sections and an entry; objects (COFF
 * alone) are no programs and are not read. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/writer.h"

bool pe_is(struct span bytes); /* checks both magic numbers */

/* Appends the ELF file to out, which must be empty and write into memory. most: a limit of its size in bytes. < 0: an unknown processor, a
 * damaged header, or too large; names, symbols and debug directories that do not fit in the file are left out. */
int pe_to_elf(struct span bytes, size_t most, struct writer *out, struct error *err);
