/* The spelling of objdump (binutils) for x86 code in AT&T syntax, from capstone's: "mov %rsp,%rbp" for "movq %rsp, %rbp". Other code is
 * spelled as it is. */
#pragma once
#include "base/str.h"
#include "code/disassemble.h"

/* Appends the mnemonic, with prefixes, and the operands. Targets of direct jumps and calls are hexadecimal without "0x". */
void objdump_spell(const struct instruction *instruction, struct str *mnemonic, struct str *operands);
