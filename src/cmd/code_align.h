/* The code of one function in several builds, side by side: which lines are the same. */
#pragma once
#include "analysis/annotate/annotation.h"

enum { CODE_SIDES_MAX = 16 };
#define CODE_NO_LINE UINT32_MAX

/* A row has for each side the index of its line, or CODE_NO_LINE. */
struct code_rows {
	VEC(uint32_t) lines;       /* [row * sides + side] */
	size_t sides, count;
	bool same;                 /* each row has a line of each side that has lines */
};

/* Lines are the same if they have equal texts, jumps within the function and calls if they have equal names. Longest common sequences
 * are found for functions of up to some thousand lines; what differs in longer ones follows one after the other. */
void code_align(struct code_rows *rows, const struct annotation *const *sides, size_t count);
void code_rows_fini(struct code_rows *rows);
static inline uint32_t code_rows_line(const struct code_rows *rows, size_t row, size_t side)
{
	return rows->lines.items[row * rows->sides + side];
}
