/* Interned places and stacks. A place is what a report tells code apart by: the function, where a symbol is known, otherwise the
 * address. A stack is a node of a trie that grows from the outermost frame inwards. Knows no sample and no output. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "analysis/tuple.h"
#include "base/vec.h"
#include "model/model.h"

/* The first four words tell places apart, the others are those of whoever came first. */
struct place {
	uint32_t symbol, module;  /* symbol: as symbols_lookup, 0: none */
	uint64_t key_ip;          /* 0 where the symbol alone tells */
	uint64_t key_map;         /* 0 where the mapping does not tell places apart */
	uint64_t key_branch;      /* what a branch tells there (analysis/branch_history.h); 0: nothing */
	uint64_t ip;
	_Alignas(8) const struct map *map; /* NULL: in no mapping */
	_Alignas(8) uint64_t level; /* 'k', '.', …; 0: in no mapping, takes that of its neighbour; and PLACE_UNWOUND */
};

#define PLACE_FRAME 0x200u        /* of a chain's frame in a mapping: ip is the address, not the offset in the file */
#define PLACE_UNWOUND 0x100u      /* of a frame that stands with those inlined into it: its line is that of the call */

enum { PLACE_KEY_WORDS = 4, PLACE_WORDS = 7 };
_Static_assert(sizeof(struct place) == PLACE_WORDS * sizeof(uint64_t), "a place is a row of words");

struct stack_node {
	uint32_t parent, place;   /* parents have lower ids than their children */
};

#define STACK_ROOT 0u         /* the empty stack */

struct stacks {
	struct tuples places;
	struct stack_node *nodes;
	uint32_t count, capacity;
	uint32_t *slots;          /* open addressing by (parent, place): id, 0 free */
	uint32_t slot_count;
	/* The stack that was pushed last, from the root: the next one mostly begins the same, which saves looking it up. */
	VEC(uint32_t) path;
	size_t depth;             /* of it, where the stack at hand stands */
};

void stacks_init(struct stacks *stacks);
void stacks_fini(struct stacks *stacks); /* also of a zeroed one */

uint32_t stacks_place(struct stacks *stacks, const struct place *place);
/* The stack that has one more frame inside parent's innermost. */
uint32_t stacks_push(struct stacks *stacks, uint32_t parent, uint32_t place);

static inline const struct place *stacks_place_at(const struct stacks *stacks, uint32_t id)
{
	return (const struct place *)tuples_row(&stacks->places, id);
}
