#include "analysis/compat/tree_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"
#include "base/radix.h"
#include "base/rb_blocks.h"
#include "base/rb_tree.h"
#include "session/session.h"

struct tree_order {
	const struct profile *profile;
	const struct entry_order *order;
	struct entry *const *entries;  /* in order of keys */
	struct radix sorted;           /* their indices, in order of the output */
	VEC(struct rb_block) blocks;
};

/* The order in perf's output tree: an entry follows those that it equals. */
static int64_t output_side(void *context, const void *item, const void *existing)
{
	return entry_order_output(context, item, existing) > 0 ? -1 : 1;
}

/* Equal where entries_same_thread: an id is below 2^31. */
static uint32_t thread_number(const struct entry *entry)
{
	return entry->thread == THREAD_NONE ? 1u << 31 | (uint32_t)entry->tid : entry->thread;
}

static const struct entry *entry_at(const struct tree_order *t, uint32_t at)
{
	return t->entries[t->sorted.items[at].value];
}

/* Within a thread, deeper chains precede if callers come first, otherwise shallower ones. */
static uint32_t depth_number(const struct tree_order *t, const struct entry *entry)
{
	return t->profile->options.chain.order == CHAIN_CALLER ? ~entry->max_depth : entry->max_depth;
}

/* Entries with equal sums of one thread. */
static void sort_by_depth(const struct tree_order *t, uint32_t first, uint32_t end)
{
	struct radix part;
	radix_init(&part, end - first);
	for (uint32_t i = first; i < end; i++)
		part.items[i - first] = (struct radix_item){ depth_number(t, entry_at(t, i)), t->sorted.items[i].value };
	radix_sort(&part, t->profile->session->pool);
	memcpy(t->sorted.items + first, part.items, (end - first) * sizeof *part.items);
	radix_fini(&part);
}

/* Where a total order exists, within a thread, the entries are put into it; others are a block. */
static void add_group(struct tree_order *t, uint32_t first, uint32_t end)
{
	bool several = false;
	for (uint32_t i = first + 1; i < end && !several; i++)
		several = !entries_same_thread(entry_at(t, first), entry_at(t, i));
	if (several)
		vec_push(&t->blocks, ((struct rb_block){ first, end }));
	else
		sort_by_depth(t, first, end);
}

static void find_blocks(struct tree_order *t)
{
	enum { AHEAD = 16 };
	uint32_t count = (uint32_t)t->sorted.count;
	for (uint32_t first = 0, end; first < count; first = end) {
		uint64_t sum = entry_at(t, first)->children_period;
		for (end = first + 1; end < count && entry_at(t, end)->children_period == sum; end++)
			__builtin_prefetch(entry_at(t, end + AHEAD < count ? end + AHEAD : end));
		__builtin_prefetch(entry_at(t, end + AHEAD < count ? end + AHEAD : first));
		if (end - first > 1)
			add_group(t, first, end);
	}
}

struct keys_fill {
	const struct tree_order *t;
	struct rb_blocks *o;
};

/* The keys of one block. Equal entries share a number. */
static void fill_keys(void *context, size_t job, unsigned worker)
{
	enum { ENTRY_AHEAD = 16, NUMBERS_AHEAD = 8 };
	const struct keys_fill *fill = context;
	const struct tree_order *t = fill->t;
	const struct rb_block *block = &t->blocks.items[job];
	uint32_t outer = block->first;
	for (uint32_t i = block->first; i < block->end; i++) {
		const struct entry *entry = entry_at(t, i);
		if (i + ENTRY_AHEAD < t->sorted.count)
			__builtin_prefetch(entry_at(t, i + ENTRY_AHEAD));
		if (i + NUMBERS_AHEAD < t->sorted.count)
			__builtin_prefetch(&t->order->output[entry_at(t, i + NUMBERS_AHEAD)->index * t->order->columns]);
		if (i > block->first && entry_order_without_depth(t->order, entry_at(t, i - 1), entry))
			outer = i;
		*rb_blocks_key(fill->o, t->sorted.items[i].value) = (struct rb_key){ .group = thread_number(entry),
			.inner = depth_number(t, entry), .outer = outer };
	}
}

/* Puts the entries of blocks into the tree's order. */
static void order_blocks(const struct tree_order *t)
{
	uint32_t count = (uint32_t)t->sorted.count;
	struct pool *pool = t->profile->session->pool;
	if (!t->blocks.count)
		return;
	uint32_t *numbers CLEANUP_FREE = memory_resize(NULL, (size_t)count + 1, sizeof *numbers);
	struct rb_blocks o;
	rb_blocks_init(&o, count);
	for (uint32_t i = 0; i < count; i++)
		numbers[i] = t->sorted.items[i].value;
	pool_run(pool, t->blocks.count, fill_keys, &(struct keys_fill){ t, &o });
	rb_blocks_order(&o, numbers, t->blocks.items, t->blocks.count, pool);
	rb_blocks_fini(&o);
	for (uint32_t i = 0; i < count; i++)
		t->sorted.items[i].value = numbers[i];
}

void tree_order_entries(const struct profile *profile, struct hist *hist, const struct entry_order *order)
{
	bool depth = profile->options.use_chains && profile->options.iteration == ITERATE_CALLERS; /* only then is the order not total */
	if (order->wild_output || (depth && !entry_order_begins_with_children(order))) {
		rb_order((void **)hist->entries, hist->count, output_side, (void *)order);
		return;
	}
	struct tree_order t = { .profile = profile, .order = order, .entries = hist->entries };
	radix_init(&t.sorted, hist->count);
	for (uint32_t i = 0; i < hist->count; i++)
		t.sorted.items[i].value = i;
	entry_order_sort_output(order, false, &t.sorted);
	if (depth)
		find_blocks(&t);
	order_blocks(&t);
	radix_apply(&t.sorted, (void **)hist->entries);
	radix_fini(&t.sorted);
	vec_fini(&t.blocks);
}
