/* The hash table of stacks, for stack.c and stack_merge.c. Internal to analysis/stack. */
#pragma once
#include "analysis/stack/stack.h"
#include "base/hash.h"

enum { FIRST_NODES = 256 };

/* It depends on the address of the slots, too (base/hash.h). */
static inline uint32_t stack_node_hash(const struct stacks *stacks, uint32_t parent, uint32_t place)
{
	return (uint32_t)hash_u64(((uint64_t)parent << 32 | place) ^ (uintptr_t)stacks->slots);
}
