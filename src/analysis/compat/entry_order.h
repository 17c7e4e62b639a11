/* The order of a hist's entries. Columns compare texts; here every distinct cell of a column is compared once and numbered, so that
 * entries compare numbers. Knows not what the cells say. */
#pragma once
#include "analysis/entry/entry.h"

struct entry_order {
	const struct profile *profile;
	const struct hist *hist;
	uint32_t *output, *keys;   /* by entry and sort column: the cell's number in the output's order, in the keys' order */
	size_t columns;
	bool *direct;              /* by sort column: its comparison is no order, and cannot be numbered */
	bool wild;                 /* there is such a column */
	bool mixed;                /* as symbols and addresses of several modules are compared without the modules */
};

/* Numbers the cells of hist->entries; entry->index is the entry's place there from now on. */
void entry_order_init(struct entry_order *order, const struct profile *profile, const struct hist *hist);
void entry_order_fini(struct entry_order *order);

/* > 0: a stands before b. Measures are compared by the first alone. */
int64_t entry_order_output(const struct entry_order *order, const struct entry *a, const struct entry *b);
int64_t entry_order_keys(const struct entry_order *order, const struct entry *a, const struct entry *b);
