/* x86-64 instructions that capstone 4 does not know: masks and comparisons of AVX-512BW, DQ and VL, as the C library's string functions use
 * them, and protection keys. Encoding: Intel SDM volume 2, "Instruction Format". Knows no capstone. */
#pragma once
#include "code/disassemble.h"

enum { X86_MNEMONIC_SIZE = 24, X86_OPERANDS_SIZE = 128 };

struct x86_vector {
	unsigned length;
	bool known;              /* otherwise only the length is */
	char mnemonic[X86_MNEMONIC_SIZE], operands[X86_OPERANDS_SIZE]; /* spelled as capstone does */
};

/* Decodes the first instruction of the code; false: it has no VEX or EVEX prefix, or is cut. */
bool x86_vector_decode(struct span code, enum code_syntax syntax, struct x86_vector *out);
