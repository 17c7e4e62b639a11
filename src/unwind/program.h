/* Executes call frame instructions and yields rules. Format: DWARF 5 §6.4.2 and the extensions of GNU and of AArch64's psABI. */
#pragma once
#include "unwind/cfi.h"
#include "unwind/machine.h"
#include "unwind/rules.h"

enum {
	PROGRAM_REGISTERS = 33,
	PROGRAM_REMEMBERED = 64,  /* nesting limit of remembered states */
	PROGRAM_KNOWN = 1024,     /* a power of two */
};

struct column {
	uint8_t kind;            /* enum saved_kind */
	uint8_t base;
	int32_t value;           /* before scaling: offsets beyond 32 bits are invalid */
};

struct frame_state {
	uint64_t set;            /* columns that are not SAVED_SAME */
	uint64_t pushed;         /* columns that were saved above the stack pointer once */
	uint64_t hash;           /* of the columns that are set */
	int32_t cfa_value;       /* offset, or start of the expression */
	uint8_t cfa_kind, cfa_register, threshold;
	bool cfa_set, is_signed;
	struct column columns[PROGRAM_REGISTERS]; /* those that the machine has */
};

/* A cache of rules by the hash of the whole state: most states recur. */
struct known_rule {
	uint64_t key;            /* 0: empty */
	uint32_t index;
};

struct program {
	const struct cfi_section *section;
	const struct machine *machine;
	struct rule_builder *builder;
	struct frame_state state, initial;
	struct frame_state remembered[PROGRAM_REMEMBERED];
	unsigned depth;
	bool changed;            /* since the last row */
	struct known_rule known[PROGRAM_KNOWN];
};

/* Executes the initial instructions of a CIE; the result is program->initial. */
bool program_cie(struct program *program, const struct cie *cie);
/* Starts from program->initial and adds the rows of an FDE for [from, to), which may be a part of its range. Returns false if it is
 * damaged; earlier rows remain, the rest has no rule. */
bool program_fde(struct program *program, const struct cie *cie, const struct fde *fde, struct span code, uint64_t code_at,
	uint64_t from, uint64_t to);
