/* Input and output of unwinding: registers, stack bytes, frames. Values shared by the parts of the unwinder and their callers. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "model/model.h"

enum unwind_arch { UNWIND_X86_64, UNWIND_AARCH64, UNWIND_X86, UNWIND_ARCHES };

/* Registers by DWARF number; the program counter is separate. */
#define UNWIND_REGISTERS 33
struct unwind_registers {
	uint64_t pc;
	uint64_t values[UNWIND_REGISTERS];
	uint64_t known;               /* a bit per register */
};

struct unwind_tables;             /* compiled rules of all modules: unwind/tables.h */

struct unwind_input {
	enum unwind_arch arch;
	const struct unwind_tables *tables;
	const struct map_node *maps;  /* of the process, as of the sample's time */
	struct unwind_registers registers; /* as sampled */
	uint64_t stack_address;       /* of the first byte of stack: the sampled stack pointer */
	struct span stack;            /* a copy of the stack memory, in the recorded machine's byte order (the same as ours) */
	size_t max_frames;
	bool no_guess;                /* end a chain where no rule applies */
};

/* Why a chain ends. */
enum unwind_end {
	UNWIND_COMPLETE,              /* the bottom of the stack: its rule, or the thread's first function */
	UNWIND_CUT,                   /* the return address is in stack memory that was not copied */
	UNWIND_SWITCHED,              /* … on another stack, which a larger copy would not reach either */
	UNWIND_LIMIT,                 /* max_frames */
	UNWIND_NO_MAP,                /* the address is in no mapping */
	UNWIND_NO_RULE,               /* no call frame information, and no plausible frame pointer */
	UNWIND_BAD_RULE,              /* information that is invalid here: loops, unknown registers, wild expressions */
	UNWIND_NEEDS_TABLE,           /* result.module's table was not compiled yet, or a guess needs its map of calls: load it and call again */
	UNWIND_ENDS,
};

struct unwind_frame {
	uint64_t pc;                  /* the sampled one first, followed by return addresses */
	uint64_t cfa;                 /* canonical frame address: the caller's stack pointer; 0: unknown */
	bool guessed;                 /* found by frame pointer or leaf heuristics, not by a rule */
	bool entry;                   /* pc is a function's first instruction, although it is a return address */
	bool signal;                  /* a signal trampoline: the next frame's pc is the interrupted instruction, not a return address */
	/* pc is after the last instruction of its rule, maybe of its function, as after a call that never returns, or no rule exists: pc - 1
	 * surely belongs to the caller */
	bool last;
};

struct unwind_result {
	enum unwind_end end;
	uint32_t module;              /* the id that end refers to; MODULE_ID_NONE */
	size_t count, guessed;        /* number of frames; number of guessed frames */
	uint64_t missing;             /* UNWIND_CUT, _SWITCHED: the address of the missing return address */
	bool null_return;             /* UNWIND_COMPLETE: because the return address was 0 */
};
