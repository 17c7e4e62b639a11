/* The operands of an x86-64 instruction in AT&T spelling, as far as the search for types of memory needs them: registers by DWARF number,
 * offsets, constants. Understands the instructions that perf understands. Knows no symbol and no debug information. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { REGISTER_UNKNOWN = -2, REGISTER_NONE = -1, REGISTER_STACK = 7, REGISTER_COUNT = 16, REGISTER_PC = 0x1000 };

struct operand {
	bool memory;           /* offset(first,second,scale) … */
	bool several;          /* … with two registers */
	bool immediate;        /* offset is a constant */
	bool per_cpu;          /* %gs: */
	int16_t first, second; /* registers */
	int64_t offset;
};

enum step_kind {
	STEP_OTHER, STEP_MOVE /* mov* */, STEP_ADD /* add* */, STEP_JUMP, STEP_CALL, STEP_RETURN,
};

struct operands {
	enum step_kind kind;
	bool stack;            /* it only moves the stack pointer and accesses the stack: push, pop, call, ret */
	bool conditional;      /* STEP_JUMP */
	bool unknown;          /* a locked instruction that is not understood */
	struct operand source, target; /* zero without registers: the instruction has no such operand, or is not understood */
};

/* mnemonic: with prefixes, as of struct instruction. */
void operands_parse(const char *mnemonic, const char *text, struct operands *operands);

/* Whether the processor may execute two successive instructions as one, so that a sample of the second belongs to an access of the first.
 * cpuid: of the recording, "GenuineIntel,6,106,6"; NULL: unknown. */
bool operands_fuse(const char *cpuid, const char *first, const char *second);
