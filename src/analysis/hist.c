#include "analysis/hist.h"

#include <stdlib.h>

#include "analysis/column_cells.h"
#include "analysis/entry_order.h"
#include "analysis/hierarchy.h"
#include "analysis/rb_order.h"

uint64_t hist_total(const struct profile *profile, const struct hist *hist)
{
	return profile->options.relative ? hist->shown_period : hist->total_period;
}

float hist_percent(const struct profile *profile, const struct hist *hist, const struct entry *entry)
{
	uint64_t total = hist_total(profile, hist);
	uint64_t period = profile->options.iteration == ITERATE_CALLERS ? entry->children_period : entry->self.period;
	return total ? (float)((double)period * 100.0 / (double)total) : 0;
}

static int64_t compare_numbers(uint64_t a, uint64_t b)
{
	return a > b ? 1 : a < b ? -1 : 0;
}

static bool same_thread(const struct entry *a, const struct entry *b)
{
	return a->thread == b->thread && (a->thread != THREAD_NONE || a->tid == b->tid);
}

/* Callers stand above what they called where both have the same sum: the one with the longer (callee order: shorter) chain. */
static int64_t compare_depth(const struct profile *profile, const struct entry *a, const struct entry *b)
{
	if (!same_thread(a, b) || !profile->options.use_chains)
		return 0;
	int64_t order = (int64_t)b->max_depth - a->max_depth;
	return profile->options.chain.order == CHAIN_CALLER ? -order : order;
}

static uint64_t member_measure(const struct entry *entry, uint32_t member, enum measure measure)
{
	return entry->pairs && entry->pairs[member] ? entry_measure(entry->pairs[member], measure) : 0;
}

int64_t entries_compare_measure(const struct profile *profile, const struct hist *hist, enum measure measure, const struct entry *a,
	const struct entry *b)
{
	bool callers = profile->options.iteration == ITERATE_CALLERS;
	if (measure == MEASURE_CHILDREN && !callers)
		return 0;
	int64_t order = compare_numbers(entry_measure(a, measure), entry_measure(b, measure));
	if (measure == MEASURE_CHILDREN)
		return order ? order : compare_depth(profile, a, b);
	int chosen = profile->options.group_sort_index;
	bool by_member = profile->options.event_group && chosen >= 1 && hist->members && (uint32_t)chosen < hist->member_count;
	if (by_member)
		order = compare_numbers(member_measure(a, (uint32_t)chosen, measure), member_measure(b, (uint32_t)chosen, measure));
	if (!profile->options.event_group || (chosen && !by_member))
		return order;
	for (uint32_t i = 1; !order && hist->members && i < hist->member_count; i++)
		order = compare_numbers(member_measure(a, i, measure), member_measure(b, i, measure));
	return order;
}

int64_t entries_sort(const struct profile *profile, const struct hist *hist, const struct entry *a, const struct entry *b)
{
	const struct columns *columns = profile->options.columns;
	int64_t order = 0;
	for (size_t i = 0; !order && i < columns->sorts.count; i++) {
		const struct column *column = &columns->all.items[columns->sorts.items[i]];
		if (column_skipped(column, hist))
			continue;
		if (column->type->class == COLUMN_MEASURE)
			order = entries_compare_measure(profile, hist, column->type->measure, a, b);
		else
			order = (column->type->sort ? column->type->sort : column->type->compare)(profile, column, a, b);
	}
	return order;
}

int64_t entries_compare(const struct profile *profile, const struct entry *a, const struct entry *b)
{
	const struct columns *columns = profile->options.columns;
	int64_t order = 0;
	for (size_t i = 0; !order && i < columns->sorts.count; i++) {
		const struct column *column = &columns->all.items[columns->sorts.items[i]];
		if (column->type->compare)
			order = column->type->compare(profile, column, a, b);
	}
	return order;
}

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

static int64_t before(void *context, const void *a, const void *b)
{
	return entry_order_output(context, a, b);
}

/* As one entry after the other was put into perf's tree of keys. */
static int64_t before_by_keys(void *context, const void *a, const void *b)
{
	return -entry_order_keys(context, b, a);
}

static int by_first(const void *a, const void *b)
{
	const struct entry *x = *(struct entry *const *)a, *y = *(struct entry *const *)b;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (x->first_rank > y->first_rank) - (x->first_rank < y->first_rank);
}

/* Entries of one sum order by chain length within a thread, by name between threads: no order at all where both are mixed. */
static bool has_mixed_threads(const struct profile *profile, const struct hist *hist)
{
	if (profile->options.iteration != ITERATE_CALLERS || !profile->options.use_chains)
		return false;
	for (size_t first = 0, end; first < hist->count; first = end) {
		bool same = false, different = false;
		for (end = first + 1; end < hist->count && hist->entries[end]->children_period == hist->entries[first]->children_period; end++)
			if (same_thread(hist->entries[end - 1], hist->entries[end]))
				same = true;
			else
				different = true;
		if (same && different)
			return true;
	}
	return false;
}

/* Where a comparison is no order, the result is that of perf's trees: of keys as they came, of keys once more, of the output. */
static void sort_as_trees(struct entry_order *order, struct entry **entries, size_t count)
{
	bool wild = order->wild;
	if (wild)
		qsort(entries, count, sizeof *entries, by_first);
	else
		qsort_r(entries, count, sizeof *entries, by_keys, order);
	if (wild)
		rb_order((void **)entries, count, before_by_keys, order);
	if (wild && order->profile->options.columns->needs_collapse)
		rb_order((void **)entries, count, before_by_keys, order);
	rb_order((void **)entries, count, before, order);
}

void hist_sort(struct profile *profile, struct hist *hist)
{
	struct entry_order order;
	entry_order_init(&order, profile, hist);
	if (hist->count)
		qsort_r(hist->entries, hist->count, sizeof *hist->entries, profile->options.hierarchy ? by_keys : by_output, &order);
	if (hist->count && !profile->options.hierarchy && (order.wild || has_mixed_threads(profile, hist)))
		sort_as_trees(&order, hist->entries, hist->count);
	entry_order_fini(&order);
	if (profile->options.hierarchy)
		hierarchy_build(profile, hist);
	hist_widths(profile, hist);
}
