/* Registers + stack bytes + mappings → the calls that led there, by compiled call frame information. Formats: DWARF 5 §6.4,
 * .eh_frame of the LSB and the psABIs of x86-64, AArch64 and i386. A function of its inputs: no I/O, no allocation, bounded work;
 * safe from several threads at once. Tables of modules are compiled beforehand (unwind/tables.h), which does read files.
 * Knows no sample, no symbol, no output. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "model/model.h"

enum unwind_arch { UNWIND_X86_64, UNWIND_AARCH64, UNWIND_X86, UNWIND_ARCHES };

/* Registers by DWARF number; the program counter apart. */
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
	struct span stack;            /* a copy of what lay there, in the recorded machine's byte order (the same as ours) */
	size_t max_frames;
};

/* Why a chain ends where it does. */
enum unwind_end {
	UNWIND_COMPLETE,              /* the bottom of the stack: its rule says so, or the thread's first function */
	UNWIND_CUT,                   /* the return address lies where the stack was not copied: beyond its end, or on another stack */
	UNWIND_LIMIT,                 /* max_frames */
	UNWIND_NO_MAP,                /* an address in no mapping */
	UNWIND_NO_RULE,               /* no call frame information for it, and no frame pointer that makes sense */
	UNWIND_BAD_RULE,              /* information that makes no sense here: loops, unknown registers, wild expressions */
	UNWIND_NEEDS_TABLE,           /* result.module's table was not compiled yet: compile it and call again */
	UNWIND_ENDS,
};

struct unwind_frame {
	uint64_t pc;                  /* the sampled one first, return addresses then */
	uint64_t cfa;                 /* canonical frame address: the caller's stack pointer; 0: not known */
	bool guessed;                 /* reached by frame pointer or leaf heuristics, not by a rule */
	bool entry;                   /* pc is a function's first instruction, though it came as a return address */
	bool signal;                  /* a signal trampoline: the next frame's pc is where it was interrupted, no return address */
	bool last;                    /* pc is behind the last instruction of its rule, maybe of its function, as after a call that never
	                               * returns: pc - 1 surely is the caller's */
};

struct unwind_result {
	enum unwind_end end;
	uint32_t module;              /* id, where end concerns one; MODULE_ID_NONE */
	size_t count, guessed;        /* frames; those of them that were guessed */
	uint64_t missing;             /* UNWIND_CUT: where the return address would lie */
	bool null_return;             /* UNWIND_COMPLETE: because the return address was 0 */
};

/* frames: room for input->max_frames. */
void unwind(const struct unwind_input *input, struct unwind_frame *frames, struct unwind_result *result);
