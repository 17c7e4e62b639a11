/* Frames of a sample's recorded user stack (--call-graph dwarf): registers and bytes of the stack in, addresses out, in perf's way.
 * Internal to session/. */
#pragma once
#include "arch/registers.h"
#include "session/session.h"
#include "unwind/unwind.h"

/* One per worker. */
struct user_stack {
	bool ready;                          /* the recording's machine is known */
	const struct register_table *registers;
	uint64_t mask, abi;                  /* that places were made of */
	uint8_t places[REGISTERS_MAX];       /* by place in the sample: DWARF number + 1; 0: not needed */
	unsigned place_count, ip_place, sp_place; /* UINT_MAX: not sampled */
	struct unwind_frame *frames;
	size_t capacity;
	struct { const struct map_node *root; bool has_file; } known[16]; /* what user_stack_frames asks for */
	struct unwind_tally tally;
};

/* Adds what it counted. */
void user_stack_count(const struct user_stack *stack, struct unwind_tally *sum);
void user_stack_fini(struct user_stack *stack);
/* The sample carries a stack to unwind, and the session unwinds. */
bool user_stack_is(const struct resolved *r);
/* Asks the memory for where the innermost frames lie. */
static inline void user_stack_prefetch(const struct sample *sample)
{
	enum { LINE = 64, LINES = 8 };
	for (unsigned i = 0; i < LINES && i * LINE < sample->stack_user_size; i++)
		__builtin_prefetch(sample->stack_user + i * LINE);
}

/* Addresses of at most `limit` frames into addresses, innermost first; those of callers as perf has them, within the call. Room for
 * limit of them. */
size_t user_stack_addresses(const struct resolved *r, struct user_stack *stack, uint64_t *addresses, size_t limit);
