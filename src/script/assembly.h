/* Instructions of the recorded processor as assembly, by the disassembler of the worker. */
#pragma once
#include "base/str.h"
#include "script/internal.h"

/* Appends the first instruction of the code at an address to *text, as perf prints it, and returns its size; 0: the bytes are no
 * instruction, or the processor has no disassembler. mode: the address space in which a direct target is looked up. with_target: the
 * target's address follows its name. */
unsigned listing_assembly(const struct listing_line *line, struct span code, uint64_t address, bool is_64bit, unsigned mode,
	bool with_target, struct str *text);
