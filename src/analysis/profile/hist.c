#include "analysis/profile/hist.h"

#include <stdlib.h>

#include "analysis/column/order.h"
#include "analysis/compat/entry_order.h"
#include "analysis/profile/fold.h"
#include "analysis/profile/hierarchy.h"
#include "base/rb_tree.h"
#include "analysis/compat/replay.h"
#include "analysis/compat/tree_order.h"
#include "base/memory.h"
#include "base/radix.h"

static int by_keys(const void *a, const void *b, void *context)
{
	int64_t order = entry_order_keys(context, *(struct entry *const *)a, *(struct entry *const *)b);
	return order > 0 ? -1 : order < 0;
}

static int by_output(const void *a, const void *b, void *context)
{
	int64_t order = entry_order_output(context, *(struct entry *const *)a, *(struct entry *const *)b);
	return order > 0 ? -1 : order < 0 ? 1 : by_keys(a, b, context);
}

/* Whether the depth of chains is compared within a thread, and there are several threads. */
static bool has_threads(const struct profile *profile, const struct hist *hist)
{
	bool several = false;
	if (profile->options.iteration == ITERATE_CALLERS && profile->options.use_chains)
		for (size_t i = 1; !several && i < hist->count; i++)
			several = !entries_same_thread(hist->entries[0], hist->entries[i]);
	return several;
}

/* A fold is made for the first row that needs one. */
struct chain_maker {
	const struct profile *profile;
	struct fold *fold;
};

static struct chain_tree *make_chain(void *context, const struct hist *hist, const struct tally *tallies, uint32_t count)
{
	struct chain_maker *maker = context;
	if (!maker->fold)
		maker->fold = fold_new(maker->profile);
	return fold_chain_of_tallies(maker->fold, hist, tallies, count);
}

/* Sorts by keys and, for the output, then by that. */
static void sort_numbers(const struct profile *profile, struct hist *hist, const struct entry_order *order, bool output)
{
	struct radix items;
	radix_init(&items, hist->count);
	for (uint32_t i = 0; i < hist->count; i++)
		items.items[i].value = i;
	entry_order_sort_keys(order, &items);
	if (output)
		entry_order_sort_output(order, true, &items);
	radix_apply(&items, (void **)hist->entries);
	radix_fini(&items);
}

/* Without a total order, the result of a sort depends on how it is done: always by the same comparisons then. */
static void sort_hist(const struct profile *profile, struct hist *hist, struct entry_order *order, bool output)
{
	if (!order->wild_output)
		sort_numbers(profile, hist, order, output);
	else if (hist->count)
		qsort_r(hist->entries, hist->count, sizeof *hist->entries, output ? by_output : by_keys, order);
}

void hist_order(const struct profile *profile, struct hist *hist)
{
	hist->order = memory_alloc(sizeof *hist->order);
	hist->capacity = hist->count;
	entry_order_init(hist->order, profile, hist);
	if (hist->order->wild || profile->folded.has_groups || profile->options.force_group)
		sort_hist(profile, hist, hist->order, false);
	if (hist->order->wild && hist->count) {
		struct chain_maker maker = { .profile = profile };
		replay_hist(profile, hist, hist->order, &(struct replay_chains){ .make = make_chain, .context = &maker });
		if (maker.fold)
			fold_free(maker.fold);
	}
}

void hist_add(const struct profile *profile, struct hist *hist, struct entry *entry)
{
	if (hist->count == hist->capacity) {
		hist->capacity = hist->capacity ? hist->capacity * 2 : 64;
		hist->entries = memory_resize(hist->entries, hist->capacity, sizeof *hist->entries);
	}
	hist->entries[hist->count++] = entry;
	if (hist->tree)
		rb_tree_put(hist->tree, entry);
	if (hist->order)
		entry_order_fini(hist->order);
	free(hist->order);
	hist->order = NULL;
}

/* If a comparison is not a total order, the result is that of perf's trees: of keys, then of the output. */
void hist_sort(const struct profile *profile, struct hist *hist)
{
	bool hierarchy = profile->options.hierarchy;
	struct entry_order order = { 0 };
	if (hist->order)
		order = *hist->order;
	else
		entry_order_init(&order, profile, hist);
	bool threads = has_threads(profile, hist), whole = hierarchy || hist->tree;
	if (!whole)
		hist_widths(profile, hist); /* before sorting: reading the entries in order of their addresses is faster */
	if (hist->tree)
		hist->count = rb_tree_items(hist->tree, (void **)hist->entries);
	else if (threads || hierarchy)
		sort_hist(profile, hist, &order, false);
	if (!hierarchy && (hist->tree || threads))
		tree_order_entries(profile, hist, &order);
	else if (!hierarchy)
		sort_hist(profile, hist, &order, true);
	entry_order_fini(&order);
	if (hist->tree)
		rb_tree_fini(hist->tree);
	free(hist->tree);
	free(hist->order);
	hist->tree = NULL;
	hist->order = NULL;
	if (hierarchy)
		hierarchy_build(profile, hist);
	if (whole)
		hist_widths(profile, hist);
}
