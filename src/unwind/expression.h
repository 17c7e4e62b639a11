/* Evaluates DWARF expressions of call frame information with a bounded number of steps. Format: DWARF 5 §2.5, without operations that
 * frames cannot use (calls, types, pieces). Knows no file; the caller provides the memory. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

enum {
	EXPRESSION_STEPS = 512,  /* operations per evaluation */
	EXPRESSION_STACK = 64,   /* values */
	EXPRESSION_LENGTH = 512, /* bytes; longer ones are invalid */
};

/* A copy of the memory from `address` on. */
struct stack_memory {
	uint64_t address;
	struct span bytes;
	uint8_t word;            /* word size in bytes */
};

/* Reads a little-endian value of 1 to 8 bytes; false: not in the copy. */
bool stack_read(struct stack_memory *memory, uint64_t address, unsigned size, uint64_t *value);

struct expression_input {
	const uint64_t *registers;  /* by DWARF number */
	uint64_t known;             /* a bit per register */
	unsigned pc_register;       /* reads as pc … */
	uint64_t pc;
	uint64_t bias;              /* added to addresses of DW_OP_addr */
	const uint64_t *cfa;        /* pushed first; NULL: not pushed */
	struct stack_memory *memory;
};

bool expression_run(struct span code, const struct expression_input *input, uint64_t *value);

/* Forms that need no evaluation. */
enum expression_form {
	EXPRESSION_OTHER,
	EXPRESSION_SUM,             /* register + offset */
	EXPRESSION_LOAD,            /* the word at register + offset */
	EXPRESSION_PLT,             /* register + offset, plus a word if the low four bits of pc reach `threshold` */
};
struct expression_shape {
	enum expression_form form;
	uint8_t reg, threshold;
	int32_t offset;
};
/* word, pc_register: of the architecture. */
struct expression_shape expression_recognise(struct span code, unsigned word, unsigned pc_register);
