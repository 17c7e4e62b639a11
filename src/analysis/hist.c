#include "analysis/hist.h"

#include <stdlib.h>

#include "analysis/column_cells.h"
#include "analysis/entry_order.h"
#include "analysis/hierarchy.h"
#include "analysis/rb_tree.h"
#include "analysis/replay.h"
#include "base/memory.h"

void entry_sums_add(struct entry_sums *sums, const struct entry_sums *more)
{
	sums->period += more->period;
	sums->period_sys += more->period_sys;
	sums->period_us += more->period_us;
	sums->period_guest_sys += more->period_guest_sys;
	sums->period_guest_us += more->period_guest_us;
	sums->count += more->count;
	for (unsigned i = 0; i < 3; i++)
		sums->weight[i] += more->weight[i];
}

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

/* As entries were put into perf's tree for the output: equals behind. */
static int64_t output_side(void *context, const void *item, const void *existing)
{
	return entry_order_output(context, item, existing) > 0 ? -1 : 1;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* Entries of one sum order by chain length within a thread, by name between threads: no order at all where both are mixed. */
static bool has_mixed_threads(const struct profile *profile, const struct hist *hist)
{
	if (profile->options.iteration != ITERATE_CALLERS || !profile->options.use_chains || !hist->count)
		return false;
	bool several = false;
	for (size_t i = 1; !several && i < hist->count; i++)
		several = !same_thread(hist->entries[0], hist->entries[i]);
	if (!several)
		return false;
	uint64_t *sums = memory_resize(NULL, hist->count, sizeof *sums);
	for (size_t i = 0; i < hist->count; i++)
		sums[i] = hist->entries[i]->children_period;
	qsort(sums, hist->count, sizeof *sums, compare_u64);
	for (size_t i = 1; i < hist->count && several; i++)
		several = sums[i - 1] != sums[i];
	free(sums);
	return !several;
}

void hist_order(struct profile *profile, struct hist *hist)
{
	hist->order = memory_alloc(sizeof *hist->order);
	hist->capacity = hist->count;
	entry_order_init(hist->order, profile, hist);
	if (hist->count)
		qsort_r(hist->entries, hist->count, sizeof *hist->entries, by_keys, hist->order);
	if (hist->order->wild && hist->count)
		replay_hist(profile, hist, hist->order);
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

/* Where a comparison is no order, the result is that of perf's trees: of keys, then of the output. */
void hist_sort(struct profile *profile, struct hist *hist)
{
	bool hierarchy = profile->options.hierarchy;
	struct entry_order order = { 0 };
	if (hist->order)
		order = *hist->order;
	else
		entry_order_init(&order, profile, hist);
	bool as_tree = hist->tree || has_mixed_threads(profile, hist);
	if (hist->tree)
		hist->count = rb_tree_items(hist->tree, (void **)hist->entries);
	else if (hist->count && (as_tree || hierarchy))
		qsort_r(hist->entries, hist->count, sizeof *hist->entries, by_keys, &order);
	if (!hierarchy && as_tree)
		rb_order((void **)hist->entries, hist->count, output_side, &order);
	else if (!hierarchy && hist->count)
		qsort_r(hist->entries, hist->count, sizeof *hist->entries, by_output, &order);
	entry_order_fini(&order);
	if (hist->tree)
		rb_tree_fini(hist->tree);
	free(hist->tree);
	free(hist->order);
	hist->tree = NULL;
	hist->order = NULL;
	if (hierarchy)
		hierarchy_build(profile, hist);
	hist_widths(profile, hist);
}
