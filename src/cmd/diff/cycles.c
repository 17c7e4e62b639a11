#include "cmd/diff/cycles.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/entry/names.h"
#include "analysis/place/source_line.h"

struct changed_block {
	uint64_t start, end, cycles; /* offsets from the function's start; average cycles */
	const struct block *longest;     /* the runs with that start */
	int64_t change;
	bool paired;
	uint64_t spread[BLOCK_FIRST];
	unsigned spread_count;
};

struct timed_blocks {
	VEC(struct changed_block) items; /* the largest start first */
};

static int by_start(const void *left, const void *right)
{
	const struct changed_block *a = left, *b = right;
	if (a->start != b->start)
		return a->start > b->start ? -1 : 1;
	return a->end > b->end ? -1 : a->end < b->end;
}

/* The entry's symbol; NULL: it has none. */
static const struct symbol *symbol_of(const struct profile *profile, const struct entry *entry, const struct module **module, uint32_t *id)
{
	const struct place *place = stacks_place_at(profile->collected.stacks, entry->place);
	*module = profile_module(profile, place->module);
	*id = place->symbol;
	return *module && *id ? symbols_get(profile->symbols, *module, *id) : NULL;
}

static void collect(struct timed_blocks *to, const struct blocks *blocks, const struct module *module, const struct symbol *symbol)
{
	size_t count;
	const struct block *list = blocks_in(blocks, module->id, symbol->start, symbol->end, &count);
	struct timed_block timed;
	for (size_t at = 0; blocks_next_timed(list, count, &at, symbol->start, &timed);)
		vec_push(&to->items, ((struct changed_block){ timed.start, timed.end, timed.cycles / timed.runs, timed.longest, 0, false }));
	if (to->items.count)
		qsort(to->items.items, to->items.count, sizeof *to->items.items, by_start);
}

/* As in perf: each of the first runs against that of the same number in the baseline. */
static void spread_runs(struct changed_block *block, const struct changed_block *before)
{
	const struct block *a = before->longest, *b = block->longest;
	while (block->spread_count < BLOCK_FIRST && block->spread_count < a->timed && block->spread_count < b->timed) {
		uint32_t old = a->first[block->spread_count], new = b->first[block->spread_count];
		block->spread[block->spread_count++] = old < new ? new - old : old - new;
	}
}

static void pair_blocks(const struct timed_blocks *before, struct timed_blocks *after)
{
	for (size_t i = 0; before->items.count && i < after->items.count; i++) {
		struct changed_block *block = &after->items.items[i];
		const struct changed_block *same = bsearch(block, before->items.items, before->items.count, sizeof *block, by_start);
		block->paired = same;
		block->change = same ? (int64_t)(block->cycles - same->cycles) : 0;
		if (same)
			spread_runs(block, same);
	}
}

static int64_t magnitude(int64_t change)
{
	return change < 0 ? -change : change;
}

/* The largest change first, those without a pair last; the order of equal ones is that of perf. */
static int by_change(const void *left, const void *right)
{
	const struct changed_block *a = left, *b = right;
	if (a->paired != b->paired)
		return a->paired ? -1 : 1;
	if (magnitude(a->change) != magnitude(b->change))
		return magnitude(a->change) > magnitude(b->change) ? -1 : 1;
	return by_start(b, a);
}

static void add_line(const struct profile *profile, const struct module *module, uint32_t id, uint64_t offset, struct str *out)
{
	static const struct source_style style = { .show_symbol = true, .show_address = true };
	source_line_add(profile->symbols, module, symbols_get(profile->symbols, module, id)->start + offset, id, style, out);
}

/* "[main.c:3 -> main.c:9]", or "[main+0 -> main+12]" where lines are unknown. */
static const char *range_text(const struct profile *profile, const struct module *module, uint32_t id, const struct changed_block *block,
	struct arena *arena)
{
	CLEANUP_STR struct str text = { 0 };
	str_putc(&text, '[');
	add_line(profile, module, id, block->start, &text);
	str_puts(&text, " -> ");
	add_line(profile, module, id, block->end, &text);
	str_putc(&text, ']');
	return arena_string(arena, str_text(&text), text.len);
}

static struct diff_blocks compare_item(const struct profile *profile, const struct diff_item *item, const struct blocks *blocks,
	struct timed_blocks *list, const struct timed_blocks *before, struct arena *arena)
{
	const struct module *module;
	uint32_t id;
	const struct symbol *symbol = symbol_of(profile, item->entry, &module, &id);
	struct diff_blocks out = { 0 };
	if (symbol)
		collect(list, blocks, module, symbol);
	out.count = list->items.count;
	if (!before || !out.count)
		return out;
	pair_blocks(before, list);
	qsort(list->items.items, out.count, sizeof *list->items.items, by_change);
	out.items = arena_alloc(arena, out.count * sizeof *out.items);
	for (size_t i = 0; i < out.count; i++) {
		const struct changed_block *block = &list->items.items[i];
		out.items[i] = (struct diff_block){ range_text(profile, module, id, block, arena), block->change, .spread_count = block->spread_count };
		memcpy(out.items[i].spread, block->spread, sizeof block->spread);
	}
	return out;
}

static void compare_row(const struct diff *diff, struct diff_row *row, const struct blocks *const *blocks, struct arena *arena)
{
	struct timed_blocks before = { 0 };
	row->blocks = arena_alloc(arena, diff->file_count * sizeof *row->blocks);
	if (row->items[0])
		row->blocks[0] = compare_item(diff->profiles[0], row->items[0], blocks[0], &before, NULL, arena);
	for (uint32_t file = 1; file < diff->file_count; file++) {
		struct timed_blocks after = { 0 };
		if (row->items[file])
			row->blocks[file] = compare_item(diff->profiles[file], row->items[file], blocks[file], &after, &before, arena);
		vec_fini(&after.items);
	}
	vec_fini(&before.items);
}

void cycles_compare(struct diff *diff, const struct blocks *const *blocks, struct arena *arena)
{
	for (size_t i = 0; i < diff->event_count; i++)
		for (size_t row = 0; row < diff->events[i].row_count; row++)
			compare_row(diff, &diff->events[i].rows[row], blocks, arena);
}
