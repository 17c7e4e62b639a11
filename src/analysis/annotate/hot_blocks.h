/* The blocks of code of a report's functions by the cycles that were spent in them. As in perf, blocks that end with the same branch of a
 * function are one, and its start is the first that was seen. Knows no layout. */
#pragma once
#include "analysis/annotate/blocks.h"
#include "analysis/table/table.h"
#include "base/arena.h"
#include "data/branch_counters.h"
#include "model/module.h"
#include "symbol/symbol.h"

/* A function of the report, in the order of its rows. */
struct block_function {
	const struct module *module;
	uint32_t symbol;
	uint32_t rows;              /* of the report that are about it: its blocks count as often in `averages` */
};

struct hot_block {
	const struct module *module;
	uint32_t symbol;
	uint64_t start, end;        /* from the function's start: of the first instruction and of the branch */
	uint64_t cycles, runs;
};

struct hot_blocks {
	struct hot_block *items;    /* most cycles first */
	size_t count;
	uint64_t total;             /* cycles of all branches, those outside of the functions included */
	uint64_t averages;          /* the sum of the average cycles of all blocks */
};

/* blocks: sorted. */
void hot_blocks_make(struct hot_blocks *hot, const struct blocks *blocks, struct symbols *symbols, const struct block_function *functions,
	size_t count, uint64_t total);
void hot_blocks_fini(struct hot_blocks *hot); /* accepts a zeroed one */

static inline uint64_t hot_block_average(const struct hot_block *block)
{
	return block->cycles / block->runs;
}

/* A table of them; context is borrowed. */
struct hot_blocks_table {
	const struct hot_blocks *hot;
	struct symbols *symbols;
	const struct branch_counters *counters; /* NULL, or none: no column of them */
	const struct blocks *blocks;            /* sorted; of counters */
	struct cell *counts;                    /* room for a cell of each counter */
};
struct table hot_blocks_table(struct hot_blocks_table *context);
