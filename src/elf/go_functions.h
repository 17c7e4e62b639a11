/* The table that Go's runtime keeps of its functions (.gopclntab), whatever was stripped: where they are, what they are called, how
 * much stack they hold at each instruction. Format: Go's src/internal/abi/symtab.go, src/runtime/symtab.go and src/debug/gosym,
 * version 1.18 and later. Knows no symbol and no rule. */
#pragma once
#include "elf/elf.h"

/* An opened table. Functions are listed by address. */
struct go_functions {
	struct span bytes;
	bool swap;
	uint8_t step;            /* bytes of the shortest instruction */
	uint64_t count;
	uint64_t text;           /* address that functions count from */
	uint64_t names, values, functions; /* offsets in bytes */
};

struct go_function {
	uint64_t start, end;     /* addresses */
	const char *name;        /* NULL: damaged */
	uint32_t stack;          /* for go_stack_begin; 0: not told */
};

/* false: none that is known. */
bool go_functions_open(struct go_functions *t, const struct elf *elf);
/* false: damaged. index: below count. */
bool go_functions_get(const struct go_functions *t, uint64_t index, struct go_function *f);

/* How much stack a function holds, by runs of instructions. */
struct go_stack {
	struct cursor bytes;
	uint64_t from, to;       /* addresses of the run */
	int64_t size;            /* bytes; < 0: not told */
	uint8_t step;
	bool first;
};

void go_stack_begin(struct go_stack *s, const struct go_functions *t, const struct go_function *f);
/* The next run; false: there are no more, or it is damaged. */
bool go_stack_next(struct go_stack *s);
