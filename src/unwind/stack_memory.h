/* Joins truncated stacks with earlier samples of their thread: remembers the stack address and the caller of each call. A chain is joined
 * if its outermost calls were seen before, in the same order, with the same return addresses, canonical frame addresses and frame contents;
 * all samples that saw the outermost one must agree on its caller, and so on down to the bottom. Equal frames alone prove nothing: a
 * function with two callers has equal frames. Bounded: calls that do not fit are dropped, and learned again. Knows no rules of unwinding
 * and no record. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/unwind.h"

enum {
	STACK_MEMORY_THREADS = 4096,     /* a power of two; threads with the same slot replace each other */
	STACK_MEMORY_CALLS = 2048,       /* maximum per thread; a power of two */
	STACK_MEMORY_CALLS_ALL = 1 << 20,
	STACK_MEMORY_OVERLAP = 8,        /* frames that must be equal, beside the outermost one, which is partially copied */
};

/* The stack bytes of a sample. */
struct stack_copy {
	uint64_t address;
	struct span bytes;
};

struct stack_call {
	uint64_t place;                  /* canonical frame address; 0: free entry */
	uint64_t pc;
	uint64_t next_place, next_pc;    /* of its caller */
	uint64_t content;                /* hash of its frame; 0: unknown */
};

struct stack_slot {
	int32_t tid;
	uint32_t count, capacity;
	bool deep;                       /* one of its stacks has filled half of its copy: contents are compared from then on */
	struct stack_call *calls;        /* open addressing by place and pc */
};

struct stack_memory {
	struct stack_slot *slots;        /* by a hash of the thread's id */
	size_t calls;                    /* capacity of all slots */
};

void stack_memory_fini(struct stack_memory *memory); /* accepts a zeroed one */
/* Stores a chain; whole: it reaches the bottom of the stack. The first `found` of its frames were found in the copy. */
void stack_memory_keep(struct stack_memory *memory, int32_t tid, const struct unwind_frame *frames, size_t count, size_t found, bool whole,
	const struct stack_copy *copy);
/* Appends the known callers to a truncated chain, down to the bottom or to `max` frames. Returns the new count, or `count` if they are
 * unknown. */
size_t stack_memory_join(const struct stack_memory *memory, int32_t tid, struct unwind_frame *frames, size_t count, size_t max,
	const struct stack_copy *copy);
/* Drops a thread's calls: it has ended, or runs another program. */
void stack_memory_forget(struct stack_memory *memory, int32_t tid);
