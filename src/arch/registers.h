/* Names and DWARF numbers of the registers in samples, by bit of sample_regs_user and sample_regs_intr. Source:
 * arch/ISA/include/uapi/asm/perf_regs.h of Linux, the names that perf prints, and the psABIs. */
#pragma once
#include <stdint.h>

#include "arch/isa.h"

#define REGISTERS_MAX 64

struct register_table {
	const char *names[REGISTERS_MAX]; /* by bit of the mask; NULL: no such register */
	uint8_t ip, sp;                   /* bits of the instruction pointer and of the stack pointer */
	uint8_t dwarf[REGISTERS_MAX];     /* by bit: DWARF number (psABI) + 1; 0: not used for unwinding */
	uint8_t dwarf32[REGISTERS_MAX];   /* the same for 32-bit programs of the family */
};

/* Returns the table of a family, or NULL if it has no table. */
const struct register_table *registers_of(enum isa isa);
/* Returns "unknown" if the table has no such register; never NULL. */
const char *register_name(enum isa isa, unsigned bit);
