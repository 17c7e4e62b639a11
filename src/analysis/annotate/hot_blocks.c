#include "analysis/annotate/hot_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct ranked {
	struct hot_block block;
	const char *name;
	size_t order;               /* in the list of functions */
	uint64_t rank;              /* share of the total, by which perf orders */
};

static int by_place(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;
	int names = strcmp(b->name, a->name);
	if (names)
		return names;
	if (a->block.start != b->block.start)
		return a->block.start < b->block.start ? -1 : 1;
	if (a->block.end != b->block.end)
		return a->block.end < b->block.end ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static bool same_place(const struct ranked *a, const struct ranked *b)
{
	return !strcmp(a->name, b->name) && a->block.start == b->block.start && a->block.end == b->block.end;
}

static int by_rank(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

void hot_blocks_make(struct hot_blocks *hot, const struct blocks *blocks, struct symbols *symbols, const struct block_function *functions,
	size_t count, uint64_t total)
{
	VEC(struct ranked) ranked = { 0 };
	*hot = (struct hot_blocks){ .total = total };
	for (size_t i = 0; i < count; i++) {
		const struct block_function *function = &functions[i];
		const struct symbol *symbol = symbols_get(symbols, function->module, function->symbol);
		struct timed_block timed;
		size_t blocks_count, at = 0;
		const struct block *list = blocks_in(blocks, function->module->id, symbol->start, symbol->end, &blocks_count);
		while (blocks_next_timed(list, blocks_count, &at, symbol->start, &timed)) {
			struct hot_block block = { function->module, function->symbol, timed.start, timed.end, timed.cycles, timed.runs };
			vec_push(&ranked, ((struct ranked){ block, symbols_name(symbols, function->module, function->symbol), ranked.count, 0 }));
			hot->averages += hot_block_average(&block) * function->rows;
		}
	}
	if (ranked.count)
		qsort(ranked.items, ranked.count, sizeof *ranked.items, by_place);
	size_t kept = 0;
	for (size_t i = 0; i < ranked.count; i++) {
		if (kept && same_place(&ranked.items[kept - 1], &ranked.items[i]))
			continue;
		struct ranked *block = &ranked.items[kept];
		*block = ranked.items[i];
		block->order = kept++;
		block->rank = total ? (uint64_t)((double)block->block.cycles / (double)total * 100000.0) : 0;
	}
	if (kept)
		qsort(ranked.items, kept, sizeof *ranked.items, by_rank);
	hot->items = memory_zero(kept + 1, sizeof *hot->items);
	hot->count = kept;
	for (size_t i = 0; i < kept; i++)
		hot->items[i] = ranked.items[i].block;
	vec_fini(&ranked);
}

void hot_blocks_fini(struct hot_blocks *hot)
{
	free(hot->items);
	*hot = (struct hot_blocks){ 0 };
}

enum { COLUMN_SHARE, COLUMN_CYCLES, COLUMN_RUNS, COLUMN_AVERAGE, COLUMN_SYMBOL, COLUMN_START, COLUMN_END, COLUMN_DSO, COLUMN_COUNTERS };

static const struct table_column columns[] = {
	[COLUMN_SHARE] = { "share", "Sampled Cycles%", NULL, CELL_SHARE },
	[COLUMN_CYCLES] = { "cycles", "Sampled Cycles", "cycles", CELL_COUNT },
	[COLUMN_RUNS] = { "runs", "Runs", NULL, CELL_COUNT },
	[COLUMN_AVERAGE] = { "average", "Avg Cycles", "cycles", CELL_COUNT },
	[COLUMN_SYMBOL] = { "symbol", "Symbol", NULL, CELL_TEXT },
	[COLUMN_START] = { "start", "Start", "bytes", CELL_BYTES },
	[COLUMN_END] = { "end", "End", "bytes", CELL_BYTES },
	[COLUMN_DSO] = { "dso", "Shared Object", NULL, CELL_TEXT },
	[COLUMN_COUNTERS] = { "counters", "Branch Counters", NULL, CELL_LIST },
};

static size_t block_count(void *context, uint64_t parent)
{
	const struct hot_blocks_table *table = context;
	return parent == TABLE_TOP ? table->hot->count : 0;
}

static bool has_counters(const struct hot_blocks_table *table)
{
	return table->counters && table->counters->items.count;
}

/* The occurrences of each event that branches count. */
static struct cell counters_cell(const struct hot_blocks_table *table, const struct hot_block *block)
{
	const struct branch_counters *counters = table->counters;
	uint64_t end = symbols_get(table->symbols, block->module, block->symbol)->start + block->end;
	for (size_t i = 0; i < counters->items.count; i++) {
		const struct block_count *count = blocks_count(table->blocks, block->module->id, end, counters->items.items[i].event);
		table->counts[i] = cell_count(count ? count->sum : 0);
	}
	return cell_list(table->counts, counters->items.count);
}

static struct cell block_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	const struct hot_blocks_table *table = context;
	const struct hot_block *block = &table->hot->items[row - 1];
	(void)scratch;
	switch (column) {
	case COLUMN_SHARE:
		return (struct cell){ .kind = CELL_SHARE, .share = { block->cycles, table->hot->total } };
	case COLUMN_CYCLES:
		return cell_count(block->cycles);
	case COLUMN_RUNS:
		return cell_count(block->runs);
	case COLUMN_AVERAGE:
		return cell_count(hot_block_average(block));
	case COLUMN_SYMBOL:
		return cell_text(symbols_name(table->symbols, block->module, block->symbol));
	case COLUMN_START:
		return cell_bytes(block->start);
	case COLUMN_END:
		return cell_bytes(block->end);
	case COLUMN_COUNTERS:
		return counters_cell(table, block);
	default:
		return cell_text(block->module->short_name);
	}
}

struct table hot_blocks_table(struct hot_blocks_table *context)
{
	return (struct table){
		.name = "blocks", .columns = columns, .column_count = has_counters(context) ? COLUMN_COUNTERS + 1 : COLUMN_COUNTERS, .context = context,
		.row_count = block_count, .row = table_row_in_order, .cell = block_cell,
	};
}
