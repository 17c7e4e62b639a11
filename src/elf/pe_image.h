/* Programs of Windows (PE and its symbols, COFF) as ELF files: what Wine and .NET map becomes readable by everything that reads ELF.
 * Source: "PE Format", Microsoft. Pure: bytes in, bytes out; knows no file.
 *
 * The ELF file is the program with another header, so that sections and their contents have the same offsets, since mappings are recorded
 * by them; and with tables behind its end: sections, segments, symbols, the build-id. Only images have sections and an entry; objects (COFF
 * alone) are no programs and are not read. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/writer.h"

#define PE_HEAD_MAX 64

struct pe_elf {
	uint8_t head[PE_HEAD_MAX];
	size_t head_size;        /* bytes at the start of the program, in place of its own */
	struct writer tables;    /* in memory; it belongs to the caller, also on failure */
};

bool pe_is(struct span bytes); /* checks both magic numbers */

/* tables_at: the offset at which the tables will be, a multiple of 8 that is not below the program's length; most: the limit of their size
 * in bytes. < 0: an unknown processor, a damaged header, or too large; names, symbols and debug directories that do not fit in the program
 * are left out. */
int pe_to_elf(struct span bytes, uint64_t tables_at, size_t most, struct pe_elf *made, struct error *err);
