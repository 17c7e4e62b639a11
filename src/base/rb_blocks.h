/* The order of a red-black tree (base/rb_tree.h) of items that are in order already, except in blocks of neighbours whose comparison is not
 * transitive. Outside of blocks, the tree is not searched: the position of a node follows from its neighbours at that time. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Positions of items whose order the tree decides. */
struct rb_block {
	uint32_t first, end;
};

/* How an item of a block is compared: with another one of its group by `inner`, if they differ in it, otherwise by `outer`; the smaller one
 * precedes. Of equal ones, the later item is behind. */
struct rb_block_key {
	uint32_t element;              /* set by rb_blocks_order */
	uint32_t group, inner, outer;
};

/* sorted: the items 0 to count - 1, which are inserted in order of their numbers, at their positions. The blocks are in order of positions
 * and do not overlap. keys: by item, set for those in blocks. Reorders the items of each block as the tree does. count < 2^32 - 2. */
void rb_blocks_order(uint32_t *sorted, uint32_t count, const struct rb_block *blocks, size_t block_count, struct rb_block_key *keys);
