/* The table of functions of Go's runtime (.gopclntab), which stripped programs retain: addresses, names, and the size of the stack frame at
 * each instruction. Format: Go's src/internal/abi/symtab.go, src/runtime/symtab.go and src/debug/gosym, version 1.18 and later. Knows no
 * symbol and no rule. */
#pragma once
#include "elf/elf.h"

/* An opened table. Functions are sorted by address. */
struct go_functions {
	struct span bytes;
	bool swap;
	uint8_t step;            /* size of the shortest instruction in bytes */
	uint64_t count;
	uint64_t text;           /* base address of functions */
	uint64_t names, values, functions; /* offsets in bytes */
};

struct go_function {
	uint64_t start, end;     /* addresses */
	const char *name;        /* NULL: damaged */
	uint32_t stack;          /* for go_stack_begin; 0: unknown */
};

/* Returns false if the file has no table of a known version. */
bool go_functions_open(struct go_functions *t, const struct elf *elf);
/* index: below count. Returns false if the entry is damaged. */
bool go_functions_get(const struct go_functions *t, uint64_t index, struct go_function *f);

/* The frame size of a function, by ranges of instructions. */
struct go_stack {
	struct cursor bytes;
	uint64_t from, to;       /* addresses of the range */
	int64_t size;            /* bytes; < 0: unknown */
	uint8_t step;
	bool first;
};

void go_stack_begin(struct go_stack *s, const struct go_functions *t, const struct go_function *f);
/* Moves to the next range; false: the end, or damaged. */
bool go_stack_next(struct go_stack *s);
