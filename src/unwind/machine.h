/* Properties of an instruction set that unwinding needs: DWARF register numbers, the size of a word. Data only. Source: the psABIs of
 * x86-64, AArch64 and i386. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "unwind/types.h"

struct machine {
	uint8_t registers;       /* DWARF numbers below this are tracked */
	uint8_t sp, fp, ra;      /* ra: the column of the return address */
	uint8_t word;            /* bytes */
	bool ra_is_register;     /* a call stores the return address in a register (x30), not on the stack */
};

const struct machine *machine_of(enum unwind_arch arch);
/* Converts the e_machine of an ELF file; false: unsupported. */
bool machine_arch(uint16_t elf_machine, bool is64, enum unwind_arch *arch);
