#include "cmd/code_arrows.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/str.h"

enum { PART_NONE, PART_LINE, PART_TOP, PART_BOTTOM, PART_TARGET = 4 }; /* TARGET is a bit */
enum { SPAN_MAX = 5000 };

struct jump {
	uint32_t first, last;      /* lines, first < last */
	uint32_t source;           /* one of both */
};

static int by_span(const void *left, const void *right)
{
	const struct jump *a = left, *b = right;
	uint32_t x = a->last - a->first, y = b->last - b->first;
	return x != y ? (x > y) - (x < y) : (a->first > b->first) - (a->first < b->first);
}

static bool is_free(const struct code_arrows *arrows, const struct jump *jump, size_t lane)
{
	for (uint32_t line = jump->first; line <= jump->last; line++)
		if (arrows->cells[line * CODE_ARROW_LANES + lane])
			return false;
	return true;
}

static void draw(struct code_arrows *arrows, const struct jump *jump)
{
	size_t lane = 0;
	while (lane < CODE_ARROW_LANES && !is_free(arrows, jump, lane))
		lane++;
	if (lane == CODE_ARROW_LANES)
		return;
	for (uint32_t line = jump->first; line <= jump->last; line++)
		arrows->cells[line * CODE_ARROW_LANES + lane] = line == jump->first ? PART_TOP : line == jump->last ? PART_BOTTOM : PART_LINE;
	arrows->cells[(jump->source == jump->first ? jump->last : jump->first) * CODE_ARROW_LANES + lane] |= PART_TARGET;
	arrows->lanes = lane >= arrows->lanes ? lane + 1 : arrows->lanes;
}

static void mark_pairs(struct code_arrows *arrows, const struct annotation *annotation)
{
	const uint32_t *code = annotation->code.items;
	for (size_t i = 0; i + 1 < annotation->code.count; i++) {
		if (!annotation->lines.items[code[i]].fused)
			continue;
		if (!arrows->pairs)
			arrows->pairs = memory_zero(arrows->lines, sizeof *arrows->pairs);
		arrows->pairs[code[i]] = 1;
		arrows->pairs[code[i + 1]] = 2;
	}
}

void code_arrows_init(struct code_arrows *arrows, const struct annotation *annotation)
{
	VEC(struct jump) jumps = { 0 };
	*arrows = (struct code_arrows){ .lines = annotation->lines.count };
	for (uint32_t i = 0; i < annotation->lines.count; i++) {
		const struct annotated_line *line = &annotation->lines.items[i];
		uint32_t to = line->target_line;
		uint32_t span = i < to ? to - i : i - to;
		if (line->kind == ANNOTATED_CODE && line->code == CODE_JUMP && line->inside && span && span <= SPAN_MAX)
			vec_push(&jumps, ((struct jump){ i < to ? i : to, i < to ? to : i, i }));
	}
	mark_pairs(arrows, annotation);
	if (jumps.count) {
		arrows->cells = memory_zero(arrows->lines, CODE_ARROW_LANES);
		qsort(jumps.items, jumps.count, sizeof *jumps.items, by_span);
	}
	for (size_t i = 0; i < jumps.count; i++)
		draw(arrows, &jumps.items[i]);
	vec_fini(&jumps);
}

void code_arrows_fini(struct code_arrows *arrows)
{
	free(arrows->pairs);
	free(arrows->cells);
	*arrows = (struct code_arrows){ 0 };
}

void code_arrows_add(const struct code_arrows *arrows, size_t line, struct str *out)
{
	static const char *const parts[] = { [PART_NONE] = " ", [PART_LINE] = "\u2502", [PART_TOP] = "\u250c", [PART_BOTTOM] = "\u2514" };
	bool across = false, target = false;
	for (size_t lane = arrows->lanes; lane-- > 0;) {
		unsigned part = arrows->cells[line * CODE_ARROW_LANES + lane];
		unsigned shape = part & ~(unsigned)PART_TARGET;
		if (across && shape == PART_NONE)
			str_puts(out, "\u2500");
		else if (across)
			str_puts(out, shape == PART_LINE ? "\u253c" : shape == PART_TOP ? "\u252c" : "\u2534");
		else
			str_puts(out, parts[shape]);
		across |= shape == PART_TOP || shape == PART_BOTTOM;
		target |= (part & PART_TARGET) != 0;
	}
	if (arrows->lanes)
		str_puts(out, target ? "\u25b8" : across ? "\u2500" : " ");
	if (arrows->lanes && arrows->pairs)
		str_puts(out, arrows->pairs[line] == 1 ? "\u256d" : arrows->pairs[line] == 2 ? "\u2570" : " ");
}
