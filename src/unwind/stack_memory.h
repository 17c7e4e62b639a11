/* What earlier samples of a thread tell about a stack that was cut: which call stood where on the stack, and what had called it. A
 * chain is joined where its outermost call was seen before, with the same return address and canonical frame address, and all samples
 * that saw it agree on its caller, and so on down to the bottom. Bounded: what does not fit is forgotten, and learned again.
 * Knows no rules of unwinding and no record. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/unwind.h"

enum {
	STACK_MEMORY_THREADS = 4096,     /* a power of two; two that meet take turns */
	STACK_MEMORY_CALLS = 2048,       /* places of one thread's stack, at most; a power of two */
	STACK_MEMORY_CALLS_ALL = 1 << 20,
};

struct stack_call {
	uint64_t place;                  /* its canonical frame address; 0: free */
	uint64_t pc;
	uint64_t next_place, next_pc;    /* of its caller */
};

struct stack_slot {
	int32_t tid;
	uint32_t count, capacity;
	struct stack_call *calls;        /* open addressing by place and pc */
};

struct stack_memory {
	struct stack_slot *slots;        /* by a hash of the thread's id */
	size_t calls;                    /* room of all */
};

void stack_memory_fini(struct stack_memory *memory); /* also of a zeroed one */
/* A chain as it was found; whole: it reaches the bottom of the stack. */
void stack_memory_keep(struct stack_memory *memory, int32_t tid, const struct unwind_frame *frames, size_t count, bool whole);
/* Appends to a chain that was cut the callers that are known of it, down to the bottom or to `max` frames. Returns the new count;
 * `count` where they are not known. */
size_t stack_memory_join(const struct stack_memory *memory, int32_t tid, struct unwind_frame *frames, size_t count, size_t max);
/* The thread has ended, or runs another program. */
void stack_memory_forget(struct stack_memory *memory, int32_t tid);
