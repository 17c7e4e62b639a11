#include "analysis/compat/entry_order.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/column/cells.h"
#include "analysis/column/order.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/radix.h"

/* What most of an order's steps read of the entries, by entry->index. */
struct survey {
	uint32_t *places, *sample_keys;
	bool wild, mixed;
};

/* One column's distinct cells without a rank, each by an entry that has it. */
struct numbering {
	const struct profile *profile;
	const struct column *column;
	bool for_output, inlined;  /* inlined: among its cells are functions that were inlined */
	const struct entry **owners;
	uint32_t *places;          /* sorted: owners' indices */
	struct radix ranked;       /* the cells with one: by unit */
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

/* Numbers the cells without a rank from 0 in their order; equal ones share a number. Returns how many numbers there are. */
static uint32_t number_cells(struct numbering *n, uint32_t count, uint32_t *numbers)
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
	return count ? number + 1 : 0;
}

/* The same for cells with a rank, from that number on. */
static uint32_t number_ranked(struct numbering *n, uint32_t number, uint32_t *numbers)
{
	radix_sort(&n->ranked, NULL);
	for (size_t i = 0; i < n->ranked.count; i++) {
		number += i && n->ranked.items[i - 1].key != n->ranked.items[i].key;
		numbers[n->ranked.items[i].value] = number;
	}
	return n->ranked.count ? number + 1 : number;
}

/* What determines the cell of an entry: a place, a sample key, or the entry if columns' texts have replaced its keys. */
static uint32_t units_of(const struct entry_order *order, const struct column *column, const uint32_t **units)
{
	const struct collected *collected = &order->profile->collected;
	bool own = order->profile->options.columns->needs_collapse;
	*units = own ? NULL : column->type->place_key ? order->survey->places : order->survey->sample_keys;
	return own ? (uint32_t)order->hist->count : column->type->place_key ? collected->stacks->places.count : collected->sample_keys.count;
}

#define RANKED UINT32_MAX

/* Collects the distinct cells. Sets by unit that entries have: the cell without a rank, from 1 on, or RANKED. Returns the number of the
 * former. for_output: symbols are distinguished by their ids, too; symbols of several modules may have one address. */
static uint32_t collect_cells(const struct entry_order *order, struct numbering *n, const uint32_t *units, uint32_t *cells)
{
	const struct hist *hist = order->hist;
	const struct column_type *type = n->column->type;
	bool (*rank)(const struct profile *, const struct entry *, uint64_t *) = n->for_output ? type->sort_rank : type->compare_rank;
	uint64_t key[COLUMN_KEY_WORDS + 1];
	uint32_t words = type->words;
	struct tuples distinct;
	tuples_init(&distinct, words + n->for_output, words + n->for_output);
	VEC(const struct entry *) owners = { 0 };
	if (rank)
		radix_init(&n->ranked, hist->count);
	n->ranked.count = 0;
	for (uint32_t i = 0; i < hist->count; i++) {
		uint32_t *cell = &cells[units ? units[i] : i];
		struct radix_item *next = rank ? &n->ranked.items[n->ranked.count] : NULL;
		if (*cell)
			continue;
		const struct entry *entry = hist->entries[i];
		if (next && rank(n->profile, entry, &next->key)) {
			next->value = units ? units[i] : i;
			n->ranked.count++;
			*cell = RANKED;
			continue;
		}
		const struct place *place = entry_place(n->profile, entry);
		n->inlined |= symbol_is_inlined(place->symbol);
		memcpy(key, entry_key(entry, n->column), words * sizeof *key);
		key[words] = (uint64_t)place->module << 32 | place->symbol;
		*cell = tuples_add(&distinct, key) + 1;
		if (distinct.count > owners.count)
			vec_push(&owners, entry);
	}
	uint32_t count = distinct.count;
	tuples_fini(&distinct);
	n->owners = owners.items;
	return count;
}

/* Returns how many numbers the column's cells have. */
static uint32_t number_column(const struct entry_order *order, size_t at, const struct column *column, bool for_output)
{
	uint32_t *numbers = for_output ? order->output : order->keys;
	struct numbering n = { .profile = order->profile, .column = column, .for_output = for_output };
	const uint32_t *units;
	uint32_t unit_count = units_of(order, column, &units);
	uint32_t *cells CLEANUP_FREE = memory_zero((size_t)unit_count + 1, sizeof *cells);
	uint32_t count = collect_cells(order, &n, units, cells);
	n.places = memory_resize(NULL, count + 1, sizeof *n.places);
	uint32_t *numbers_of CLEANUP_FREE = memory_resize(NULL, count + 1, sizeof *numbers_of);
	uint32_t end = number_cells(&n, count, numbers_of);
	for (uint32_t i = 0; i < unit_count && count; i++)
		if (cells[i] && cells[i] != RANKED)
			cells[i] = numbers_of[cells[i] - 1];
	end = number_ranked(&n, end, cells);
	for (uint32_t i = 0; i < order->hist->count; i++)
		numbers[i * order->columns + at] = cells[units ? units[i] : i];
	free(n.places);
	free(n.owners);
	radix_fini(&n.ranked);
	return end;
}

/* Reads each entry once, and finds out what keeps its columns from being numbered.
 * wild: perf compares addresses by their signed difference, which overflows if they are too far apart.
 * mixed: it compares two addresses alone, but an address and a symbol by their modules first: without a column of modules this is not a
 * total order. */
static void survey_init(struct survey *survey, const struct profile *profile, const struct hist *hist)
{
	int64_t low = INT64_MAX, high = INT64_MIN, span;
	bool symbols = false, addresses = false;
	*survey = (struct survey){ .places = memory_resize(NULL, hist->count + 1, sizeof *survey->places),
		.sample_keys = memory_resize(NULL, hist->count + 1, sizeof *survey->sample_keys) };
	for (size_t i = 0; i < hist->count; i++) {
		struct entry *entry = hist->entries[i];
		const struct place *place = entry_place(profile, entry);
		entry->index = (uint32_t)i;
		survey->places[i] = entry->place;
		survey->sample_keys[i] = entry->sample_key;
		symbols |= place->symbol != 0;
		addresses |= !place->symbol;
		if (place->symbol)
			continue;
		low = (int64_t)place->ip < low ? (int64_t)place->ip : low;
		high = (int64_t)place->ip > high ? (int64_t)place->ip : high;
	}
	survey->wild = low < high && __builtin_sub_overflow(high, low, &span);
	survey->mixed = symbols && addresses && !profile->options.columns->has_dso;
}

static void survey_fini(struct survey *survey)
{
	free(survey->places);
	free(survey->sample_keys);
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
	uint32_t *ends = at->for_output ? jobs->order->output_ends : jobs->order->key_ends;
	ends[at->at] = number_column(jobs->order, at->at, sort_column(jobs->order, at->at), at->for_output);
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
	struct survey survey;
	survey_init(&survey, profile, hist);
	*order = (struct entry_order){ .profile = profile, .hist = hist, .columns = profile->options.columns->sorts.count, .survey = &survey };
	order->direct = memory_zero(order->columns + 1, sizeof *order->direct);
	order->key_ends = memory_zero(order->columns + 1, sizeof *order->key_ends);
	order->output_ends = memory_zero(order->columns + 1, sizeof *order->output_ends);
	order->keys = memory_zero(hist->count * order->columns + 1, sizeof *order->keys);
	order->output = memory_zero(hist->count * order->columns + 1, sizeof *order->output);
	number_columns(order);
	for (size_t i = 0; i < order->columns; i++) {
		const struct column_type *type = sort_column(order, i)->type;
		if (type->class == COLUMN_MEASURE)
			continue;
		for (size_t e = 0; !type->sort && e < hist->count; e++)
			order->output[e * order->columns + i] = order->keys[e * order->columns + i];
		if (!type->sort)
			order->output_ends[i] = order->key_ends[i];
		order->mixed |= survey.mixed && type->by_address && type->id != ID_ADDR;
		order->direct[i] = type->unordered || ((survey.wild || survey.mixed) && type->by_address);
		order->wild |= order->direct[i];
		order->wild_output |= order->direct[i] && (type->id != ID_SYMBOL || order->mixed);
	}
	survey_fini(&survey);
	order->survey = NULL;
}

void entry_order_fini(struct entry_order *order)
{
	free(order->keys);
	free(order->output);
	free(order->key_ends);
	free(order->output_ends);
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

/* The sort of items by several numbers of each, the last one first; small numbers are sorted at once. */
struct number_sort {
	const struct entry_order *order;
	struct radix *items;
	unsigned bits;       /* of the items' keys, which are to be sorted */
};

static void sort_pending(struct number_sort *sort)
{
	if (!sort->bits)
		return;
	radix_sort(sort->items, sort->order->profile->session->pool);
	for (size_t i = 0; i < sort->items->count; i++)
		sort->items->items[i].key = 0;
	sort->bits = 0;
}

/* The entries are not in order of their addresses. */
static inline void fetch_ahead(const struct number_sort *sort, size_t at)
{
	enum { AHEAD = 16 };
	if (at + AHEAD < sort->items->count)
		__builtin_prefetch(sort->order->hist->entries[sort->items->items[at + AHEAD].value]);
}

/* The number of a column's cell, or, without numbers, that measure of a member of the event group. */
struct number_load {
	const struct number_sort *sort;
	const uint32_t *numbers;
	size_t column;
	enum measure measure;
	uint32_t member;
};

enum { LOADED_ITEMS = 16384 };

static void load_range(void *context, size_t job, unsigned worker)
{
	const struct number_load *load = context;
	const struct number_sort *sort = load->sort;
	size_t first = job * LOADED_ITEMS, left = sort->items->count - first;
	for (size_t i = first; i < first + (left < LOADED_ITEMS ? left : LOADED_ITEMS); i++) {
		struct radix_item *item = &sort->items->items[i];
		const struct entry *entry = sort->order->hist->entries[item->value];
		fetch_ahead(sort, i);
		if (load->numbers)
			item->key |= (uint64_t)load->numbers[entry->index * sort->order->columns + load->column] << sort->bits;
		else
			item->key = ~entry_member_measure(entry, load->member, load->measure);
	}
}

static void load_numbers(struct number_load *load)
{
	size_t jobs = (load->sort->items->count + LOADED_ITEMS - 1) / LOADED_ITEMS;
	pool_run(load->sort->order->profile->session->pool, jobs, load_range, load);
}

static void sort_by_number(struct number_sort *sort, const uint32_t *numbers, uint32_t end, size_t column)
{
	unsigned bits = end > 1 ? 32 - (unsigned)__builtin_clz(end - 1) : 0;
	if (!bits)
		return;
	if (sort->bits + bits > 64)
		sort_pending(sort);
	load_numbers(&(struct number_load){ .sort = sort, .numbers = numbers, .column = column });
	sort->bits += bits;
}

static void sort_by_member(struct number_sort *sort, enum measure measure, uint32_t member)
{
	sort_pending(sort);
	load_numbers(&(struct number_load){ .sort = sort, .measure = measure, .member = member });
	sort->bits = 64;
	sort_pending(sort);
}

static void sort_by_measure(struct number_sort *sort, enum measure measure, bool depth)
{
	const struct profile *profile = sort->order->profile;
	struct entry *const *entries = sort->order->hist->entries;
	bool children = measure == MEASURE_CHILDREN;
	if (children && profile->options.iteration != ITERATE_CALLERS)
		return;
	sort_pending(sort);
	bool callers = profile->options.chain.order == CHAIN_CALLER;
	for (size_t i = 0; children && depth && profile->options.use_chains && i < sort->items->count; i++) {
		uint32_t deepest = entries[sort->items->items[i].value]->max_depth;
		sort->items->items[i].key = callers ? ~deepest : deepest;
		sort->bits = 32;
	}
	struct measure_order by = children ? (struct measure_order){ 0 } : measure_order(profile, sort->order->hist);
	for (uint32_t member = by.end; member-- > 1;)
		sort_by_member(sort, measure, member);
	sort_by_member(sort, measure, by.first);
}

static struct number_sort number_sort(const struct entry_order *order, struct radix *items)
{
	for (size_t i = 0; i < items->count; i++)
		items->items[i].key = 0;
	return (struct number_sort){ .order = order, .items = items };
}

void entry_order_sort_keys(const struct entry_order *order, struct radix *items)
{
	struct number_sort sort = number_sort(order, items);
	for (size_t i = order->columns; i-- > 0;)
		if (sort_column(order, i)->type->class != COLUMN_MEASURE)
			sort_by_number(&sort, order->keys, order->key_ends[i], i);
	sort_pending(&sort);
}

void entry_order_sort_output(const struct entry_order *order, bool depth, struct radix *items)
{
	struct number_sort sort = number_sort(order, items);
	for (size_t i = order->columns; i-- > 0;) {
		const struct column *column = sort_column(order, i);
		if (column_skipped(column, order->hist))
			continue;
		if (column->type->class == COLUMN_MEASURE)
			sort_by_measure(&sort, column->type->measure, depth);
		else
			sort_by_number(&sort, order->output, order->output_ends[i], i);
	}
	sort_pending(&sort);
}
