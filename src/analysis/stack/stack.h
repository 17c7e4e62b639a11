/* Interned places and stacks. A place is what a profile distinguishes code by: the function if its symbol is known, otherwise the
 * address. A stack is a node of a trie whose root is the outermost frame. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/tuple.h"
#include "base/vec.h"
#include "model/model.h"

struct pool;

/* The first four words are the key; the others are facts of the first place with that key. */
struct place {
	uint32_t symbol, module;  /* symbol: as symbols_lookup; 0: unknown */
	uint64_t key_ip;          /* 0: the symbol alone is the key */
	uint64_t key_map;         /* 0: the mapping is not part of the key */
	uint64_t key_branch;      /* the frame's branch mark (analysis/stack/branch_history.h); 0: absent */
	uint64_t ip;
	_Alignas(8) const struct map *map; /* NULL: in no mapping */
	_Alignas(8) uint64_t level; /* mode letter; 0: in no mapping, shown like its neighbour; and the flags below */
};

#define PLACE_FRAME 0x200u        /* the frame of a call chain, in a mapping: ip is the address, not the file offset */
#define PLACE_UNWOUND 0x100u      /* a frame with inlined calls: its source line is that of the call */

enum { PLACE_KEY_WORDS = 4, PLACE_WORDS = 7 };
_Static_assert(sizeof(struct place) == PLACE_WORDS * sizeof(uint64_t), "a place is a row of words");

struct stack_node {
	uint32_t parent, place;   /* the id of a parent is lower than those of its children */
};

#define STACK_ROOT 0u         /* the empty stack */

struct stacks {
	struct tuples places;
	struct stack_node *nodes;
	uint32_t count, capacity;
	uint32_t *slots;          /* open addressing by (parent, place): id; 0: free */
	uint32_t slot_count;
	/* The ids of the stack that was pushed last, from the root: the next stack often has the same start, which is then not looked
	 * up. */
	VEC(uint32_t) path;
	size_t depth;             /* number of path items that the current stack has matched */
};

void stacks_init(struct stacks *stacks);
void stacks_fini(struct stacks *stacks); /* a zeroed one is allowed */

uint32_t stacks_place(struct stacks *stacks, const struct place *place);
/* Returns the stack that has one frame more than parent, at its inner end. */
uint32_t stacks_push(struct stacks *stacks, uint32_t parent, uint32_t place);
/* Pushes the places one after the other: what is new of a stack costs less than by single calls. */
uint32_t stacks_push_all(struct stacks *stacks, uint32_t parent, const uint32_t *places, size_t count);

/* Adds a stack of which the caller knows that it is new, and which no call looks up before stacks_unlist: this costs no look-up. */
uint32_t stacks_append(struct stacks *stacks, uint32_t parent, uint32_t place);
/* Drops what finds stacks; the next push or merge makes it again. */
void stacks_unlist(struct stacks *stacks);

/* Adds the stacks of `from`. places: the place here of each place there, no two the same; NULL: they have the same numbers. nodes receives
 * the node here of each node there. Uses all threads of the pool; the numbers of new nodes depend on how many there are. */
void stacks_merge(struct stacks *stacks, const struct stacks *from, const uint32_t *places, uint32_t *nodes, struct pool *pool);
/* Bytes that stacks_merge takes besides, by node of `from`. */
enum { STACKS_MERGE_BYTES = 3 * sizeof(uint32_t) };

/* Bytes that the memory of these stacks takes when they have so many nodes and places. */
size_t stacks_bytes(const struct stacks *stacks, size_t nodes, size_t places);

/* Frames of a stack. */
static inline uint32_t stacks_depth(const struct stacks *stacks, uint32_t node)
{
	uint32_t depth = 0;
	for (; node != STACK_ROOT; node = stacks->nodes[node].parent)
		depth++;
	return depth;
}

static inline const struct place *stacks_place_at(const struct stacks *stacks, uint32_t id)
{
	return (const struct place *)tuples_row(&stacks->places, id);
}
