#include "analysis/column/order.h"

static int64_t compare_numbers(uint64_t a, uint64_t b)
{
	return a > b ? 1 : a < b ? -1 : 0;
}

/* With equal sums callers precede their callees: the entry with the longer (callee order: shorter) chain. */
static int64_t compare_depth(const struct profile *profile, const struct entry *a, const struct entry *b)
{
	if (!entries_same_thread(a, b) || !profile->options.use_chains)
		return 0;
	int64_t order = (int64_t)b->max_depth - a->max_depth;
	return profile->options.chain.order == CHAIN_CALLER ? -order : order;
}

uint64_t entry_member_measure(const struct entry *entry, uint32_t member, enum measure measure)
{
	if (!member)
		return entry_measure(entry, measure);
	return entry->pairs && entry->pairs[member] ? entry_measure(entry->pairs[member], measure) : 0;
}

struct measure_order measure_order(const struct profile *profile, const struct hist *hist)
{
	int chosen = profile->options.group_sort_index;
	if (!profile->options.event_group)
		return (struct measure_order){ 0 };
	bool by_member = chosen >= 1 && hist->members && (uint32_t)chosen < hist->member_count;
	bool all = hist->members && (!chosen || by_member);
	return (struct measure_order){ .first = by_member ? (uint32_t)chosen : 0, .end = all ? hist->member_count : 0 };
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
	struct measure_order by = measure_order(profile, hist);
	if (by.first)
		order = compare_numbers(entry_member_measure(a, by.first, measure), entry_member_measure(b, by.first, measure));
	for (uint32_t i = 1; !order && i < by.end; i++)
		order = compare_numbers(entry_member_measure(a, i, measure), entry_member_measure(b, i, measure));
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
