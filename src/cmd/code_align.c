#include "cmd/code_align.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { CELLS_MAX = 1 << 23 };

static bool equal_texts(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_line(const struct annotated_line *a, const struct annotated_line *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind != ANNOTATED_CODE)
		return equal_texts(a->text, b->text);
	if (!a->mnemonic || !b->mnemonic)
		return a->mnemonic == b->mnemonic && a->offset == b->offset;
	if (strcmp(a->mnemonic, b->mnemonic) != 0)
		return false;
	if (a->direct && b->direct && (a->inside || b->inside))
		return a->inside == b->inside;
	if (a->direct && b->direct && a->target_name && b->target_name)
		return strcmp(a->target_name, b->target_name) == 0;
	if (a->reference_name && b->reference_name)
		return strcmp(a->reference_name, b->reference_name) == 0;
	return equal_texts(a->operands, b->operands);
}

/* The rows so far beside the lines of the next side. */
struct joining {
	const struct annotation *const *sides;
	const struct code_rows *rows;
	const struct annotation *next;
	struct code_rows out;
};

static bool same_at(const struct joining *j, size_t row, size_t line)
{
	for (size_t side = 0; side < j->rows->sides; side++) {
		uint32_t index = code_rows_line(j->rows, row, side);
		if (index != CODE_NO_LINE)
			return same_line(&j->sides[side]->lines.items[index], &j->next->lines.items[line]);
	}
	return false;
}

static void add_row(struct joining *j, size_t row, size_t line)
{
	for (size_t side = 0; side < j->rows->sides; side++)
		vec_push(&j->out.lines, row == SIZE_MAX ? CODE_NO_LINE : code_rows_line(j->rows, row, side));
	vec_push(&j->out.lines, (uint32_t)line);
	j->out.count++;
}

/* Rows [a, a_end) and lines [b, b_end), of which no first and no last two are the same. */
static void join_middle(struct joining *j, size_t a, size_t a_end, size_t b, size_t b_end)
{
	size_t width = b_end - b + 1, height = a_end - a + 1;
	bool fits = width <= CELLS_MAX / height && width <= UINT16_MAX && height <= UINT16_MAX;
	/* [i * width + k]: the length of the longest common sequence of what follows */
	uint16_t *common = fits ? memory_zero(width * height, sizeof *common) : NULL;
	for (size_t i = height - 1; common && i-- > 0;)
		for (size_t k = width - 1; k-- > 0;) {
			uint16_t down = common[(i + 1) * width + k], right = common[i * width + k + 1];
			common[i * width + k] = same_at(j, a + i, b + k) ? common[(i + 1) * width + k + 1] + 1 : down > right ? down : right;
		}
	for (size_t i = 0, k = 0; i + 1 < height || k + 1 < width;) {
		bool both = common && i + 1 < height && k + 1 < width;
		if (both && same_at(j, a + i, b + k)) {
			add_row(j, a + i++, b + k++);
		} else if (i + 1 < height && (!both || common[(i + 1) * width + k] >= common[i * width + k + 1])) {
			add_row(j, a + i++, CODE_NO_LINE);
		} else {
			add_row(j, SIZE_MAX, b + k++);
		}
	}
	free(common);
}

static void join(struct joining *j)
{
	size_t a = j->rows->count, b = j->next->lines.count, start = 0, end = 0;
	while (start < a && start < b && same_at(j, start, start))
		start++;
	while (end < a - start && end < b - start && same_at(j, a - 1 - end, b - 1 - end))
		end++;
	for (size_t i = 0; i < start; i++)
		add_row(j, i, i);
	join_middle(j, start, a - end, start, b - end);
	for (size_t i = end; i > 0; i--)
		add_row(j, a - i, b - i);
}

void code_align(struct code_rows *rows, const struct annotation *const *sides, size_t count)
{
	*rows = (struct code_rows){ .same = true };
	for (size_t side = 0; side < count; side++) {
		struct joining j = { .sides = sides, .rows = rows, .next = sides[side], .out = { .sides = side + 1, .same = true } };
		join(&j);
		code_rows_fini(rows);
		*rows = j.out;
	}
	for (size_t i = 0; i < rows->lines.count; i++)
		rows->same = rows->same && (rows->lines.items[i] != CODE_NO_LINE || !sides[i % count]->lines.count);
}

void code_rows_fini(struct code_rows *rows)
{
	vec_fini(&rows->lines);
	*rows = (struct code_rows){ 0 };
}
