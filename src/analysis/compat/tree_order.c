#include "analysis/compat/tree_order.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/pool_sort.h"
#include "base/rb_blocks.h"
#include "base/rb_tree.h"
#include "session/session.h"

struct block_list {
	VEC(struct rb_block) blocks;
};

/* The order in perf's output tree: an entry follows those that it equals. */
static int64_t output_side(void *context, const void *item, const void *existing)
{
	return entry_order_output(context, item, existing) > 0 ? -1 : 1;
}

static int by_output(const void *a, const void *b, void *context)
{
	int64_t order = entry_order_output(context, *(struct entry *const *)a, *(struct entry *const *)b);
	return order > 0 ? -1 : order < 0;
}

static int without_depth(const void *a, const void *b, void *context)
{
	int64_t order = entry_order_without_depth(context, *(struct entry *const *)a, *(struct entry *const *)b);
	return order > 0 ? -1 : order < 0;
}

/* Where a total order exists, within a thread, the entries are put into it; others are a block. */
static void add_group(const struct profile *profile, const struct entry_order *order, struct block_list *list, struct entry **entries,
	uint32_t first, uint32_t end)
{
	bool several = false;
	for (uint32_t i = first + 1; i < end && !several; i++)
		several = !entries_same_thread(entries[first], entries[i]);
	if (several)
		vec_push(&list->blocks, ((struct rb_block){ first, end }));
	else
		pool_sort(profile->session->pool, (void **)(entries + first), end - first, by_output, (void *)order);
}

static void find_blocks(const struct profile *profile, const struct entry_order *order, struct block_list *list, struct entry **sorted,
	uint32_t count)
{
	enum { AHEAD = 16 };
	for (uint32_t first = 0, end; first < count; first = end) {
		for (end = first + 1; end < count && sorted[end]->children_period == sorted[first]->children_period; end++)
			__builtin_prefetch(sorted[end + AHEAD < count ? end + AHEAD : end]);
		__builtin_prefetch(sorted[end + AHEAD < count ? end + AHEAD : first]);
		if (end - first > 1)
			add_group(profile, order, list, sorted, first, end);
	}
}

/* Equal where entries_same_thread: an id is below 2^31. */
static uint32_t thread_number(const struct entry *entry)
{
	return entry->thread == THREAD_NONE ? 1u << 31 | (uint32_t)entry->tid : entry->thread;
}

/* Within a thread, deeper chains precede if callers come first, otherwise shallower ones. */
static void fill_keys(const struct profile *profile, const struct entry_order *order, const struct block_list *list,
	struct entry *const *sorted, const uint32_t *numbers, struct rb_block_key *keys)
{
	bool callers = profile->options.chain.order == CHAIN_CALLER;
	for (size_t b = 0; b < list->blocks.count; b++) {
		const struct rb_block *block = &list->blocks.items[b];
		uint32_t outer = block->first; /* equal entries share a number */
		for (uint32_t i = block->first; i < block->end; i++) {
			const struct entry *entry = sorted[i];
			if (i > block->first && entry_order_without_depth(order, sorted[i - 1], entry))
				outer = i;
			keys[numbers[i]] = (struct rb_block_key){ .group = thread_number(entry),
				.inner = callers ? ~entry->max_depth : entry->max_depth, .outer = outer };
		}
	}
}

void tree_order_entries(const struct profile *profile, struct hist *hist, const struct entry_order *order)
{
	uint32_t count = (uint32_t)hist->count;
	if (order->wild || !entry_order_begins_with_children(order)) {
		rb_order((void **)hist->entries, count, output_side, (void *)order);
		return;
	}
	struct block_list list = { 0 };
	struct entry **sorted = memory_resize(NULL, (size_t)count + 1, sizeof *sorted);
	memcpy(sorted, hist->entries, count * sizeof *sorted);
	pool_sort(profile->session->pool, (void **)sorted, count, without_depth, (void *)order);
	find_blocks(profile, order, &list, sorted, count);
	uint32_t *number_of = memory_resize(NULL, (size_t)count + 1, sizeof *number_of); /* by entry->index */
	uint32_t *numbers = memory_resize(NULL, (size_t)count + 1, sizeof *numbers);
	for (uint32_t i = 0; i < count; i++)
		number_of[hist->entries[i]->index] = i;
	for (uint32_t i = 0; i < count; i++)
		numbers[i] = number_of[sorted[i]->index];
	free(number_of);
	struct rb_block_key *keys = memory_resize(NULL, (size_t)count + 1, sizeof *keys);
	fill_keys(profile, order, &list, sorted, numbers, keys);
	rb_blocks_order(numbers, count, list.blocks.items, list.blocks.count, keys);
	for (uint32_t i = 0; i < count; i++)
		sorted[i] = hist->entries[numbers[i]];
	memcpy(hist->entries, sorted, count * sizeof *sorted);
	free(keys);
	vec_fini(&list.blocks);
	free(numbers);
	free(sorted);
}
