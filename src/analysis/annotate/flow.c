#include "analysis/annotate/flow.h"

#include <stdlib.h>

#include "base/search.h"

/* A part of the symbol that blocks cover as a whole: no block starts or ends within it. */
struct piece {
	uint64_t start, end;         /* inclusive, from the symbol's start */
	uint64_t coverage, entries, exits, predicted;
};

struct pieces {
	VEC(struct piece) items;     /* by start */
	uint64_t most;               /* coverage */
};

static int compare_numbers(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
	return a < b ? -1 : a > b;
}

static size_t piece_at(const struct pieces *pieces, uint64_t offset)
{
	return SEARCH_COUNT(pieces->items.count, i, pieces->items.items[i].end < offset);
}

/* Limits on the work for one symbol. */
#define PIECES_MAX ((size_t)1 << 16)

/* Cuts the covered code at the start and after the end of each block. */
static void cut_pieces(struct pieces *pieces, const struct block *blocks, size_t count, uint64_t symbol)
{
	VEC(uint64_t) cuts = { 0 };
	for (size_t i = 0; i < count; i++) {
		if (!blocks[i].runs || blocks[i].start < symbol)
			continue;
		vec_push(&cuts, blocks[i].start - symbol);
		vec_push(&cuts, blocks[i].end - symbol + 1);
	}
	if (cuts.count && cuts.count < PIECES_MAX)
		qsort(cuts.items, cuts.count, sizeof *cuts.items, compare_numbers);
	else
		vec_clear(&cuts);
	for (size_t i = 1; i < cuts.count; i++)
		if (cuts.items[i] != cuts.items[i - 1])
			vec_push(&pieces->items, ((struct piece){ cuts.items[i - 1], cuts.items[i] - 1, 0, 0, 0, 0 }));
	vec_fini(&cuts);
}

static void cover_pieces(struct pieces *pieces, const struct block *blocks, size_t count, uint64_t symbol)
{
	for (size_t i = 0; pieces->items.count && i < count; i++) {
		if (!blocks[i].runs || blocks[i].start < symbol)
			continue;
		size_t first = piece_at(pieces, blocks[i].start - symbol), last = piece_at(pieces, blocks[i].end - symbol);
		pieces->items.items[first].entries += blocks[i].runs;
		pieces->items.items[last].exits += blocks[i].runs;
		pieces->items.items[last].predicted += blocks[i].predicted;
	}
	uint64_t inside = 0; /* blocks that have begun and not ended */
	for (size_t i = 0; i < pieces->items.count; i++) {
		inside += pieces->items.items[i].entries;
		pieces->items.items[i].coverage = inside;
		pieces->most = inside > pieces->most ? inside : pieces->most;
		inside -= pieces->items.items[i].exits;
	}
}

static void show_piece(const struct pieces *pieces, struct annotated_line *line)
{
	size_t index = piece_at(pieces, line->offset);
	if (index == pieces->items.count || pieces->items.items[index].start > line->offset)
		return;
	const struct piece *piece = &pieces->items.items[index];
	line->flow.covered = piece->coverage != 0;
	line->flow.coverage = pieces->most ? (double)piece->coverage / (double)pieces->most : 0;
	if (piece->entries && piece->start == line->offset) {
		while (index + 1 < pieces->items.count && !pieces->items.items[index].exits)
			index++;
		if (pieces->items.items[index].coverage)
			line->flow.entered = 100.0 * (double)piece->entries / (double)pieces->items.items[index].coverage;
	}
	if (piece->exits && piece->end == line->offset) {
		line->flow.left = 100.0 * (double)piece->exits / (double)piece->coverage;
		line->flow.predicted = 100.0 * (double)piece->predicted / (double)piece->exits;
	}
}

/* The line of the instruction at an offset; NULL: no instruction begins there. */
static struct annotated_line *line_at(struct annotation *annotation, uint64_t offset)
{
	for (size_t low = 0, high = annotation->code.count; low < high;) {
		size_t middle = low + (high - low) / 2;
		struct annotated_line *line = &annotation->lines.items[annotation->code.items[middle]];
		if (line->offset == offset)
			return line;
		if (line->offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* Cycles of the branch at a line: of all runs; instructions per cycle: of the longest block that ends there, as its start is known. */
static void time_branch(struct annotation *annotation, const struct block *blocks, size_t count, uint64_t symbol)
{
	const struct block *longest = NULL;
	struct annotated_line *line = line_at(annotation, blocks[0].end - symbol);
	uint64_t runs = 0, cycles = 0;
	if (!line)
		return;
	line->flow.least = UINT32_MAX;
	for (size_t i = 0; i < count; i++) {
		if (!blocks[i].timed)
			continue;
		runs += blocks[i].timed;
		cycles += blocks[i].cycles;
		line->flow.least = blocks[i].least < line->flow.least ? blocks[i].least : line->flow.least;
		line->flow.most = blocks[i].most > line->flow.most ? blocks[i].most : line->flow.most;
		bool inside = blocks[i].start != BLOCK_NO_START && blocks[i].start >= symbol && blocks[i].start < blocks[i].end;
		if (inside && !longest)
			longest = &blocks[i];
	}
	line->flow.runs = runs;
	line->flow.cycles = runs ? cycles / runs : 0;
	const struct annotated_line *first = longest ? line_at(annotation, longest->start - symbol) : NULL;
	if (!first)
		return;
	uint64_t instructions = line->number - first->number + 1;
	line->flow.ipc = (double)instructions / ((double)longest->cycles / (double)longest->timed);
	annotation->flow.cycles += longest->cycles;
	annotation->flow.instructions += instructions * longest->timed;
	annotation->flow.covered++;
}

void flow_make(struct annotation *annotation, const struct blocks *blocks, uint64_t offset)
{
	struct pieces pieces = { 0 };
	size_t count;
	const struct block *first = blocks_in(blocks, annotation->module->id, offset, offset + annotation->size, &count);
	annotation->flow.recorded = blocks->items.count != 0;
	annotation->flow.known = count != 0;
	cut_pieces(&pieces, first, count, offset);
	cover_pieces(&pieces, first, count, offset);
	for (size_t i = 0; i < annotation->code.count; i++)
		show_piece(&pieces, &annotation->lines.items[annotation->code.items[i]]);
	for (size_t i = 0, next; i < count; i = next) {
		for (next = i + 1; next < count && first[next].end == first[i].end; next++)
			;
		time_branch(annotation, first + i, next - i, offset);
	}
	vec_fini(&pieces.items);
}
