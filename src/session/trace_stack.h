/* Call stacks and last branches of threads, from the branches of a trace. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"

struct trace_branch {
	uint64_t from, to;
	uint32_t flags;          /* enum trace_flag */
};

struct trace_stack {
	VEC(uint64_t) frames;    /* return addresses, outermost first */
	size_t untraced;         /* so many of the innermost were pushed where the trace ended */
	struct trace_branch *branches; /* a ring of trace_stacks.branches_max; NULL: none yet */
	uint64_t branch_count;   /* of all branches; the newest is at (branch_count - 1) % branches_max */
};

/* A branch with its flags (enum trace_flag); size: of the instruction at `from`. */
void trace_stack_branch(struct trace_stack *stack, uint32_t flags, uint64_t from, uint64_t to, uint32_t size);
/* Writes the call chain of ip, innermost first, with context markers, at most `most` (>= 2) words; returns how many. outermost: so many
 * frames are left out. */
size_t trace_stack_chain(const struct trace_stack *stack, uint64_t ip, size_t outermost, uint64_t *words, size_t most);
/* How many of the outermost frames a chain of all frames leaves out, as a record has no room for them. The number changes in large steps:
 * chains that differed in their outermost frame would have no node in common, and an analysis would store each of them. */
enum { TRACE_STACK_CHAIN_MAX = 7500 };
size_t trace_stack_excess(const struct trace_stack *stack);
/* The same for a sample that was recorded some time after it was taken at ip: without the kernel's frames that the stack has since, and
 * without ip where there are callers, as in perf. */
size_t trace_stack_late_chain(const struct trace_stack *stack, uint64_t ip, uint64_t *words, size_t most);
void trace_stack_fini(struct trace_stack *stack);

/* The stacks of all threads. Their memory has a limit: all become empty when it is reached; each has another one: the outer half of its
 * frames is dropped. */
struct trace_stacks {
	struct idmap of_thread;  /* → index in list */
	VEC(struct trace_stack *) list;
	size_t room;             /* frames for which the stacks have memory */
	size_t branches_max;     /* last branches of each thread; 0: they are not stored */
	uint64_t cut;            /* chains that left out frames, and stacks that lost some */
};

/* The stack of a thread; stays valid until trace_stacks_fini. */
struct trace_stack *trace_stacks_get(struct trace_stacks *stacks, int32_t tid);
/* As trace_stack_branch; stack: one of these stacks. */
void trace_stacks_branch(struct trace_stacks *stacks, struct trace_stack *stack, uint32_t flags, uint64_t from, uint64_t to, uint32_t size);
/* A thread runs another program: none of its functions returns. */
void trace_stacks_exec(struct trace_stacks *stacks, int32_t tid);
void trace_stacks_fini(struct trace_stacks *stacks); /* accepts a zeroed one */
