/* Frames of a sample's recorded user stack (--call-graph dwarf): converts registers and stack bytes to addresses, as perf does. For
 * session/, and for rewrite/, which has a model and no session. */
#pragma once
#include "arch/registers.h"
#include "session/resolved.h"
#include "session/state.h"
#include "unwind/unwind.h"

/* One per worker. */
struct user_stack {
	bool ready;                          /* the recording's machine is known */
	const struct register_table *registers;
	uint64_t mask, abi;                  /* from which `places` was computed */
	uint8_t places[REGISTERS_MAX];       /* by position in the sample: DWARF number + 1; 0: not needed */
	unsigned place_count, ip_place, sp_place; /* UINT_MAX: not sampled */
	struct unwind_frame *frames;
	size_t capacity;
	struct { const struct map_node *root; bool has_file; } known[16]; /* cache of user_stack_frames' checks */
	struct unwind_tally tally;
};

enum { USER_STACK_FRAMES_MAX = 16384 };

/* What a sample's stack is unwound with; all is borrowed. */
struct user_stack_input {
	const struct header *header;         /* names the recording's machine */
	const struct modules *modules;
	struct unwind_tables *tables;
	struct stack_memory *memory;         /* NULL: stacks that were cut are not continued */
	bool no_guess;
	const struct map_node *root;         /* the process's mappings; NULL: none */
	const struct sample *sample;         /* with registers and a stack */
	uint64_t mask;                       /* attr.sample_regs_user */
	int32_t tid;
};

/* Adds the worker's counts to *sum. */
void user_stack_count(const struct user_stack *stack, struct unwind_tally *sum);
void user_stack_fini(struct user_stack *stack);
/* Returns whether the sample has a stack to unwind, and the session unwinds. */
bool user_stack_is(const struct resolved *r);
/* Prefetches the stack memory of the innermost frames. */
static inline void user_stack_prefetch(const struct sample *sample)
{
	enum { LINE = 64, LINES = 8 };
	for (unsigned i = 0; i < LINES && i * LINE < sample->stack_user_size; i++)
		__builtin_prefetch(sample->stack_user + i * LINE);
}

/* Stores the addresses of at most `limit` frames, innermost first; those of callers lie within the call, as in perf. A last one of
 * UINT64_MAX: perf has this frame where memory is missing. addresses has room for limit entries. */
size_t user_stack_unwind(const struct user_stack_input *in, struct user_stack *stack, uint64_t *addresses, size_t limit);
size_t user_stack_addresses(const struct resolved *r, struct user_stack *stack, uint64_t *addresses, size_t limit);
