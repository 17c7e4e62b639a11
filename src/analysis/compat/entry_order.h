/* The order of a hist's entries. Columns compare texts; here each distinct cell of a column is compared once and numbered, so that
 * entries compare numbers. Does not interpret the cells. */
#pragma once
#include "analysis/entry/entry.h"
#include "base/radix.h"

struct entry_order {
	const struct profile *profile;
	const struct hist *hist;
	uint32_t *output, *keys;   /* by entry and sort column: the cell's number in the output's order, in the keys' order */
	uint32_t *output_ends, *key_ends; /* by sort column: how many numbers there are */
	size_t columns;
	const struct survey *survey; /* while columns are numbered */
	bool *direct;              /* by sort column: its comparison is not a total order, so that its cells cannot be numbered */
	bool wild;                 /* a direct column exists */
	bool wild_output;          /* a direct column is one whose output has no total order either: not that of symbols by modules, whose output
				    * is in order of names */
	bool mixed;                /* because symbols and addresses of several modules are compared without the modules */
};

/* Numbers the cells of hist->entries, and sets entry->index to the index there. */
void entry_order_init(struct entry_order *order, const struct profile *profile, const struct hist *hist);
void entry_order_fini(struct entry_order *order);

/* > 0: a precedes b. Only the first measures. */
int64_t entry_order_output(const struct entry_order *order, const struct entry *a, const struct entry *b);
int64_t entry_order_keys(const struct entry_order *order, const struct entry *a, const struct entry *b);

/* Sort the values of items, which are indices of hist->entries; what an order does not decide remains as it is. Not for
 * orders with wild_output. In a wild order, entries with equal cells before the direct column are adjacent afterwards, in the order of that
 * column's numbers. */
void entry_order_sort_keys(const struct entry_order *order, struct radix *items);
/* depth: of chains, which are compared within a thread: all entries are to be of one. */
void entry_order_sort_output(const struct entry_order *order, bool depth, struct radix *items);

/* Whether the output is in order of the first column, sums with callees, and no later one has such sums. */
bool entry_order_begins_with_children(const struct entry_order *order);
/* Of such an output: its order if the depth of chains did not matter. This is a total order. */
int64_t entry_order_without_depth(const struct entry_order *order, const struct entry *a, const struct entry *b);
