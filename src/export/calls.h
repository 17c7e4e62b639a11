/* Calls and their returns, from the branches of threads. A stack per thread holds the calls that have not returned; a call is finished when
 * its return is found, when the thread executes another program, or at the end. The rules where calls or returns are missing are those of
 * perf's call/return export, as its databases show them. Knows no database. */
#pragma once
#include "export/paths.h"

enum call_flag { CALL_NO_CALL = 1, CALL_NO_RETURN = 2, CALL_JUMP = 4 };

struct finished_call {
	uint32_t thread, path;       /* thread: as in the branch; path: in the tree */
	uint64_t comm;
	uint64_t call_time, return_time, branches, instructions, cycles;
	uint64_t call_sample, return_sample;
	uint32_t flags;              /* enum call_flag */
	uint64_t id;                 /* 0: not given yet */
	uint64_t *parent_id;         /* of the call that is below it on the stack, which the receiver sets if it is 0; NULL: it is the outermost */
};

/* One end of a branch. */
struct branch_end {
	uint64_t address;
	uint32_t symbol;             /* id of an exported symbol; 0: unknown */
	bool at_start;               /* of the symbol */
};

struct export_branch {
	uint32_t thread;             /* any number for each thread; of idle tasks, for each CPU */
	bool leads_process;
	uint64_t comm;               /* of the program that runs */
	uint32_t flags;              /* enum trace_flag */
	uint32_t size;               /* of the instruction */
	uint64_t time, sample, instructions, cycles;
	struct branch_end from, to;
};

struct calls;
/* paths is borrowed. finish receives each finished call. */
struct calls *calls_new(struct call_paths *paths, void (*finish)(void *context, const struct finished_call *call), void *context);
void calls_free(struct calls *calls); /* accepts NULL */
/* The symbol is one of the kernel's functions for indirect branches, which are not shown as calls. */
void calls_note_thunk(struct calls *calls, uint32_t symbol);
void calls_branch(struct calls *calls, const struct export_branch *branch);
/* Finishes the calls of a thread that have not returned. */
void calls_end(struct calls *calls, uint32_t thread);
