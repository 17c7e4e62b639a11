#include "analysis/annotate/blocks.h"

#include <stdlib.h>

#include "abi/branch.h"

void blocks_fini(struct blocks *blocks)
{
	vec_fini(&blocks->items);
	idmap_fini(&blocks->by_range);
}

static struct block *block_of(struct blocks *blocks, uint32_t module, uint64_t start, uint64_t end)
{
	uint64_t key = hash_pair(hash_pair(module, start), end);
	uint32_t id;
	for (; (id = idmap_get(&blocks->by_range, key)) != IDMAP_NONE; key++) {
		struct block *known = &blocks->items.items[id];
		if (known->module == module && known->start == start && known->end == end)
			return known;
	}
	idmap_set(&blocks->by_range, key, (uint32_t)blocks->items.count);
	struct block *added = vec_add(&blocks->items);
	*added = (struct block){ .module = module, .start = start, .end = end, .least = UINT32_MAX };
	return added;
}

void blocks_add_sample(struct blocks *blocks, const struct resolved *r)
{
	const struct location *target = NULL; /* of the branch before */
	for (uint64_t i = r->sample->branch_count; i-- > 0;) {
		const struct branch_entry branch = sample_branch(r->sample, i);
		const struct location *from = resolved_locate_any(r, branch.from);
		bool follows = target && target->module == from->module && target->offset <= from->offset;
		if (from->module != MODULE_ID_NONE) {
			struct block *block = block_of(blocks, from->module, follows ? target->offset : BLOCK_NO_START, from->offset);
			uint32_t cycles = branch_cycles(branch.flags);
			block->runs += follows;
			block->predicted += follows && branch_is_predicted(branch.flags);
			if (cycles) {
				block->timed++;
				block->cycles += cycles;
				block->least = cycles < block->least ? cycles : block->least;
				block->most = cycles > block->most ? cycles : block->most;
			}
		}
		target = resolved_locate_any(r, branch.to);
	}
}

void blocks_merge(struct blocks *to, struct blocks *from)
{
	for (size_t i = 0; i < from->items.count; i++) {
		const struct block *add = &from->items.items[i];
		struct block *sum = block_of(to, add->module, add->start, add->end);
		sum->runs += add->runs;
		sum->predicted += add->predicted;
		sum->timed += add->timed;
		sum->cycles += add->cycles;
		sum->least = add->least < sum->least ? add->least : sum->least;
		sum->most = add->most > sum->most ? add->most : sum->most;
	}
	blocks_fini(from);
}

static int block_compare(const void *left, const void *right)
{
	const struct block *a = left, *b = right;
	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

void blocks_sort(struct blocks *blocks)
{
	if (blocks->items.count)
		qsort(blocks->items.items, blocks->items.count, sizeof *blocks->items.items, block_compare);
	idmap_fini(&blocks->by_range);
}

/* The index of the first block that is not before an end. */
static size_t block_position(const struct blocks *blocks, uint32_t module, uint64_t end)
{
	const struct block key = { .module = module, .end = end };
	size_t low = 0, high = blocks->items.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (block_compare(&blocks->items.items[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct block *blocks_in(const struct blocks *blocks, uint32_t module, uint64_t start, uint64_t end, size_t *count)
{
	size_t first = block_position(blocks, module, start);
	*count = block_position(blocks, module, end) - first;
	return blocks->items.items + first;
}
