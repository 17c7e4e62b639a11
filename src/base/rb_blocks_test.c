#include "base/rb_blocks.h"

#include <stdlib.h>

#include "base/pool.h"
#include "base/rb_tree.h"
#include "unit.h"

enum { ITEMS = 3000 };

/* Items with larger sums precede. Equal sums are compared by depth within a thread, otherwise by name: this is not transitive. */
struct thing {
	int sum, thread, depth, name;
};

static int64_t thing_side(const struct thing *item, const struct thing *existing)
{
	if (item->sum != existing->sum)
		return item->sum > existing->sum ? -1 : 1;
	if (item->thread == existing->thread && item->depth != existing->depth)
		return item->depth > existing->depth ? -1 : 1;
	return item->name < existing->name ? -1 : 1;
}

static int64_t by_pointer(void *context, const void *item, const void *existing)
{
	return thing_side(item, existing);
}

static int by_sum(const void *a, const void *b, void *context)
{
	const struct thing *things = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	if (things[x].sum != things[y].sum)
		return things[x].sum > things[y].sum ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Whether the blocks have the order of a tree that is searched for each item. */
static bool equals_tree(struct thing *things, uint32_t count, struct pool *pool)
{
	uint32_t sorted[ITEMS];
	void *pointers[ITEMS];
	struct rb_block blocks[ITEMS];
	struct rb_blocks o;
	rb_blocks_init(&o, count);
	size_t block_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		sorted[i] = i;
		*rb_blocks_key(&o, i) = (struct rb_key){ 0, (uint32_t)things[i].thread, ~(uint32_t)things[i].depth, (uint32_t)things[i].name };
		pointers[i] = &things[i];
	}
	qsort_r(sorted, count, sizeof *sorted, by_sum, things);
	for (uint32_t first = 0, end; first < count; first = end) {
		for (end = first + 1; end < count && things[sorted[end]].sum == things[sorted[first]].sum;)
			end++;
		if (end - first > 1)
			blocks[block_count++] = (struct rb_block){ first, end };
	}
	rb_order(pointers, count, by_pointer, NULL);
	rb_blocks_order(&o, sorted, blocks, block_count, pool);
	rb_blocks_fini(&o);
	bool equal = true;
	for (uint32_t i = 0; i < count; i++)
		equal &= pointers[i] == &things[sorted[i]];
	return equal;
}

TEST("where comparisons are not transitive within blocks, the order is that of a tree that is searched for each item")
{
	static struct thing things[ITEMS];
	unsigned random = 3;
	struct pool *pool = pool_new(3);
	for (int sums = 1; sums <= ITEMS; sums = sums * 5 / 2 + 1)
		for (uint32_t count = 1; count <= ITEMS; count = count * 3 + 1) {
			for (uint32_t i = 0; i < count; i++) {
				int part[4];
				for (int k = 0; k < 4; k++) {
					random = random * 1103515245 + 12345;
					part[k] = (int)(random >> 16);
				}
				things[i] = (struct thing){ part[0] % sums, part[1] % 4, part[2] % 5, part[3] % 50 };
			}
			EXPECT(equals_tree(things, count, pool));
		}
	pool_free(pool);
}

TEST("items without blocks are in order")
{
	uint32_t sorted[] = { 2, 0, 1 };
	struct rb_blocks o;
	rb_blocks_init(&o, 3);
	rb_blocks_order(&o, sorted, NULL, 0, NULL);
	rb_blocks_fini(&o);
	EXPECT_INT(sorted[0], 2);
	EXPECT_INT(sorted[1], 0);
	EXPECT_INT(sorted[2], 1);
}
