/* The instructions of one symbol, decoded for the search for types, and the paths between them. Knows no debug information. */
#pragma once
#include "analysis/annotate/code_source.h"
#include "analysis/datatype/operands.h"
#include "base/str.h"
#include "base/vec.h"

struct step {
	uint64_t address;          /* as linked */
	uint32_t name;             /* of the mnemonic's first word, in the names of the functions */
	uint8_t length;
	bool inside;               /* JUMP: the target is an instruction of the symbol … */
	uint32_t target_step;      /* … with this index */
	uint64_t target;           /* JUMP, CALL: as linked; 0: unknown */
	struct operands operands;
};

struct function {
	VEC(struct step) steps;
};

/* Instructions that run one after the other, both ends included. */
struct step_range {
	uint32_t first, last;
};

struct step_path {
	VEC(struct step_range) ranges;
};

/* Decodes the code of a symbol; names: collects the first words of mnemonics. */
void function_decode(struct function *function, struct disassembler *disassembler, const struct code_bytes *code, struct strtab *names);
void function_fini(struct function *function);
/* UINT32_MAX: no instruction begins at the address. */
uint32_t function_step(const struct function *function, uint64_t address);
/* Fills *path with the shortest path from the step `from` to the step `to`, counted in ranges; false: no path is known. */
bool function_path(const struct function *function, uint32_t from, uint32_t to, struct step_path *path);
/* Puts `first`, a path that ends where *path begins, before *path; the common step is not repeated. */
void step_path_prepend(struct step_path *path, const struct step_path *first);
