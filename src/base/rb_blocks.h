/* The order of a red-black tree (base/rb_tree.h) of items that are in order already, except in blocks of neighbours whose comparison is not
 * transitive. Outside of blocks, the tree is not searched: the position of a node follows from its neighbours at that time. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/rb_tree.h"

struct pool;

/* Positions of items whose order the tree decides. */
struct rb_block {
	uint32_t first, end;
};

/* An item of a block is compared with another one of its group by `inner`, if they differ in it, otherwise by `outer`; the smaller one
 * precedes. Of equal ones, the later item is behind. */
struct rb_blocks {
	struct rb_tree tree;           /* node i + 1 is item i; its key's group, inner and outer are to be set if it is in a block */
};

void rb_blocks_init(struct rb_blocks *o, uint32_t count);
void rb_blocks_fini(struct rb_blocks *o);
/* sorted: the items 0 to count - 1, which are inserted in order of their numbers, at their positions. The blocks are in order of positions
 * and do not overlap. Reorders the items of each block as the tree does; once. count < 2^32 - 2. The blocks are read from the tree on all
 * threads of the pool. */
void rb_blocks_order(struct rb_blocks *o, uint32_t *sorted, const struct rb_block *blocks, size_t block_count, struct pool *pool);

static inline struct rb_key *rb_blocks_key(const struct rb_blocks *o, uint32_t item)
{
	return &o->tree.nodes.items[item + 1].key;
}
