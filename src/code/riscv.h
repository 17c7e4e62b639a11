/* RISC-V machine code: RV64GC as objdump spells it, with pseudo-instructions and the ABI's names of registers. Capstone 4 has no RISC-V.
 * Source: The RISC-V Instruction Set Manual, volume I. */
#pragma once
#include "code/disassemble.h"

struct riscv {
	char mnemonic[24], operands[64];
	/* The last instruction if it was an auipc: a load, an addition or a call after it has the complete address. */
	uint64_t next, upper;
	unsigned upper_register;   /* 0: it was another one */
};

/* Whether this is the decoder of the machine. */
bool riscv_is(const struct code_machine *machine);
/* As disassembler_next. */
bool riscv_next(struct riscv *riscv, struct span *code, uint64_t *address, struct instruction *instruction);
