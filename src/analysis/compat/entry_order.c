#include "analysis/compat/entry_order.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/column/cells.h"
#include "analysis/column/order.h"
#include "base/memory.h"
#include "base/pool.h"

/* One column's distinct cells, each by an entry that has it. */
struct numbering {
	const struct profile *profile;
	const struct column *column;
	bool for_output, inlined;  /* inlined: among its cells are functions that were inlined */
	const struct entry **owners;
	uint32_t *places;          /* sorted: owners' indices */
};

static int64_t compare_cells(const struct numbering *n, uint32_t a, uint32_t b)
{
	const struct column_type *type = n->column->type;
	int64_t (*compare)(const struct profile *, const struct column *, const struct entry *, const struct entry *) =
		n->for_output && type->sort ? type->sort : type->compare;
	return compare ? compare(n->profile, n->column, n->owners[a], n->owners[b]) : 0;
}

static int by_cell(const void *a, const void *b, void *context)
{
	int64_t order = compare_cells(context, *(const uint32_t *)a, *(const uint32_t *)b);
	return order > 0 ? -1 : order < 0;
}

static int by_place(const void *a, const void *b, void *context)
{
	const struct numbering *n = context;
	int64_t order = places_compare_all(n->profile, entry_place(n->profile, n->owners[*(const uint32_t *)a]),
		entry_place(n->profile, n->owners[*(const uint32_t *)b]));
	return (order > 0) - (order < 0);
}

/* Numbers the cells from 0 in their order; equal ones share a number. */
static void number_cells(struct numbering *n, uint32_t count, uint32_t *numbers)
{
	for (uint32_t i = 0; i < count; i++)
		n->places[i] = i;
	/* functions that are compared by name with some and by address with others have no total order: sorting starts from a fixed one */
	if (count && n->inlined)
		qsort_r(n->places, count, sizeof *n->places, by_place, n);
	if (count)
		qsort_r(n->places, count, sizeof *n->places, by_cell, n);
	uint32_t number = 0;
	for (uint32_t i = 0; i < count; i++) {
		number += i && compare_cells(n, n->places[i - 1], n->places[i]) != 0;
		numbers[n->places[i]] = number;
	}
}

/* for_output: symbols are distinguished by their ids, too; symbols of several modules may have one address. */
static void number_column(const struct entry_order *order, size_t at, const struct column *column, bool for_output)
{
	const struct hist *hist = order->hist;
	uint32_t *cells CLEANUP_FREE = memory_resize(NULL, hist->count + 1, sizeof *cells);
	uint32_t *numbers = for_output ? order->output : order->keys, words = column->type->words;
	uint64_t key[COLUMN_KEY_WORDS + 1];
	struct tuples distinct;
	tuples_init(&distinct, words + for_output, words + for_output);
	struct numbering n = { .profile = order->profile, .column = column, .for_output = for_output };
	n.owners = memory_resize(NULL, hist->count + 1, sizeof *n.owners);
	for (size_t i = 0; i < hist->count; i++) {
		const struct place *place = entry_place(order->profile, hist->entries[i]);
		uint32_t known = distinct.count;
		n.inlined |= symbol_is_inlined(place->symbol);
		memcpy(key, entry_key(hist->entries[i], column), words * sizeof *key);
		key[words] = (uint64_t)place->module << 32 | place->symbol;
		cells[i] = tuples_add(&distinct, key);
		if (distinct.count > known)
			n.owners[cells[i]] = hist->entries[i];
	}
	n.places = memory_resize(NULL, distinct.count + 1, sizeof *n.places);
	uint32_t *numbers_of = memory_resize(NULL, distinct.count + 1, sizeof *numbers_of);
	number_cells(&n, distinct.count, numbers_of);
	for (size_t i = 0; i < hist->count; i++)
		numbers[i * order->columns + at] = numbers_of[cells[i]];
	free(numbers_of);
	free(n.places);
	free(n.owners);
	tuples_fini(&distinct);
}

/* perf compares addresses by their signed difference, which overflows if they are too far apart. */
static bool has_wild_addresses(const struct profile *profile, const struct hist *hist)
{
	int64_t low = INT64_MAX, high = INT64_MIN, span;
	for (size_t i = 0; i < hist->count; i++) {
		const struct place *place = entry_place(profile, hist->entries[i]);
		if (place->symbol)
			continue;
		low = (int64_t)place->ip < low ? (int64_t)place->ip : low;
		high = (int64_t)place->ip > high ? (int64_t)place->ip : high;
	}
	return low < high && __builtin_sub_overflow(high, low, &span);
}

/* perf compares two addresses alone, but an address and a symbol by their modules first: without a column of modules this is not a total
 * order. */
static bool has_mixed_symbols(const struct profile *profile, const struct hist *hist)
{
	bool symbols = false, addresses = false;
	if (profile->options.columns->has_dso)
		return false;
	for (size_t i = 0; i < hist->count; i++) {
		bool symbol = entry_place(profile, hist->entries[i])->symbol;
		symbols |= symbol;
		addresses |= !symbol;
	}
	return symbols && addresses;
}

/* A column to number, for the keys or for the output. */
struct number_job {
	size_t at;
	bool for_output;
};

struct number_jobs {
	const struct entry_order *order;
	VEC(struct number_job) list;
};

static const struct column *sort_column(const struct entry_order *order, size_t at)
{
	const struct columns *columns = order->profile->options.columns;
	return &columns->all.items[columns->sorts.items[at]];
}

static void number_one(void *context, size_t job, unsigned worker)
{
	const struct number_jobs *jobs = context;
	const struct number_job *at = &jobs->list.items[job];
	number_column(jobs->order, at->at, sort_column(jobs->order, at->at), at->for_output);
}

/* Numbers the cells of all columns; of many entries, each column on a thread. */
static void number_columns(const struct entry_order *order)
{
	enum { SERIAL_ENTRIES = 2048 };
	struct number_jobs jobs = { .order = order };
	for (size_t i = 0; i < order->columns; i++) {
		const struct column_type *type = sort_column(order, i)->type;
		if (type->class != COLUMN_MEASURE)
			vec_push(&jobs.list, ((struct number_job){ i, false }));
		if (type->class != COLUMN_MEASURE && type->sort)
			vec_push(&jobs.list, ((struct number_job){ i, true }));
	}
	if (order->hist->count > SERIAL_ENTRIES && columns_are_shared(order->profile->options.columns))
		pool_run(order->profile->session->pool, jobs.list.count, number_one, &jobs);
	else
		for (size_t i = 0; i < jobs.list.count; i++)
			number_one(&jobs, i, 0);
	vec_fini(&jobs.list);
}

void entry_order_init(struct entry_order *order, const struct profile *profile, const struct hist *hist)
{
	*order = (struct entry_order){ .profile = profile, .hist = hist, .columns = profile->options.columns->sorts.count };
	for (size_t i = 0; i < hist->count; i++)
		hist->entries[i]->index = (uint32_t)i;
	bool wild = has_wild_addresses(profile, hist), mixed = has_mixed_symbols(profile, hist);
	order->direct = memory_zero(order->columns + 1, sizeof *order->direct);
	order->keys = memory_zero(hist->count * order->columns + 1, sizeof *order->keys);
	order->output = memory_zero(hist->count * order->columns + 1, sizeof *order->output);
	number_columns(order);
	for (size_t i = 0; i < order->columns; i++) {
		const struct column_type *type = sort_column(order, i)->type;
		if (type->class == COLUMN_MEASURE)
			continue;
		for (size_t e = 0; !type->sort && e < hist->count; e++)
			order->output[e * order->columns + i] = order->keys[e * order->columns + i];
		order->mixed |= mixed && type->by_address && type->id != ID_ADDR;
		order->direct[i] = type->unordered || ((wild || mixed) && type->by_address);
		order->wild |= order->direct[i];
	}
}

void entry_order_fini(struct entry_order *order)
{
	free(order->keys);
	free(order->output);
	free(order->direct);
	*order = (struct entry_order){ 0 };
}

static int64_t compare_numbers(const uint32_t *numbers, size_t columns, const struct entry *a, const struct entry *b, size_t column)
{
	return (int64_t)numbers[b->index * columns + column] - numbers[a->index * columns + column];
}

static inline int64_t compare_output(const struct entry_order *order, const struct entry *a, const struct entry *b, size_t from)
{
	const struct columns *columns = order->profile->options.columns;
	int64_t result = 0;
	for (size_t i = from; !result && i < order->columns; i++) {
		const struct column *column = &columns->all.items[columns->sorts.items[i]];
		const struct column_type *type = column->type;
		if (column_skipped(column, order->hist))
			continue;
		if (type->class == COLUMN_MEASURE)
			result = entries_compare_measure(order->profile, order->hist, type->measure, a, b);
		else if (order->direct[i] && type->id != ID_SYMBOL)
			result = (type->sort ? type->sort : type->compare)(order->profile, column, a, b);
		else
			result = compare_numbers(order->output, order->columns, a, b, i);
	}
	return result;
}

int64_t entry_order_output(const struct entry_order *order, const struct entry *a, const struct entry *b)
{
	return compare_output(order, a, b, 0);
}

bool entry_order_begins_with_children(const struct entry_order *order)
{
	for (size_t i = 0; i < order->columns; i++) {
		const struct column *column = sort_column(order, i);
		bool children = column->type->class == COLUMN_MEASURE && column->type->measure == MEASURE_CHILDREN;
		if (children != !i || (!i && column_skipped(column, order->hist)))
			return false;
	}
	return order->columns;
}

int64_t entry_order_without_depth(const struct entry_order *order, const struct entry *a, const struct entry *b)
{
	if (a->children_period != b->children_period)
		return a->children_period > b->children_period ? 1 : -1;
	return compare_output(order, a, b, 1);
}

int64_t entry_order_keys(const struct entry_order *order, const struct entry *a, const struct entry *b)
{
	const struct columns *columns = order->profile->options.columns;
	int64_t result = 0;
	for (size_t i = 0; !result && i < order->columns; i++) {
		const struct column *column = &columns->all.items[columns->sorts.items[i]];
		if (order->direct[i])
			result = column->type->compare(order->profile, column, a, b);
		else
			result = compare_numbers(order->keys, order->columns, a, b, i);
	}
	return result;
}
