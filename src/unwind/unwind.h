/* Converts registers, stack bytes and mappings to the chain of calls, with compiled call frame information. Formats: DWARF 5 §6.4,
 * .eh_frame of the LSB and the psABIs of x86-64, AArch64 and i386. A function of its inputs: no I/O, no allocation, bounded work;
 * thread-safe. Tables of modules are compiled before (unwind/tables.h), which reads files. Knows no sample, no symbol, no output. */
#pragma once
#include "unwind/types.h"

/* frames: room for input->max_frames. */
void unwind(const struct unwind_input *input, struct unwind_frame *frames, struct unwind_result *result);
