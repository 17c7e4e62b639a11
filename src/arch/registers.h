/* Registers of perf.data samples (the masks sample_regs_user and sample_regs_intr): their names, by bit.
 * Source: arch/ISA/include/uapi/asm/perf_regs.h of Linux, and the names that perf prints. */
#pragma once
#include <stdint.h>

#include "arch/isa.h"

#define REGISTERS_MAX 64

struct register_table {
	const char *names[REGISTERS_MAX]; /* by bit of the mask; NULL: none */
	uint8_t ip, sp;                   /* bits of the instruction and stack pointers */
	uint8_t dwarf[REGISTERS_MAX];     /* by bit: number in DWARF (psABI) + 1; 0: none that unwinding needs */
	uint8_t dwarf32[REGISTERS_MAX];   /* the same of the family's 32-bit programs */
};

/* The table of a family; NULL where none is known. */
const struct register_table *registers_of(enum isa isa);
/* Never NULL: "unknown" where the table tells none. */
const char *register_name(enum isa isa, unsigned bit);
