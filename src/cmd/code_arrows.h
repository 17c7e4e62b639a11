/* Lines from jumps to their targets, beside the code of a function. */
#pragma once
#include "analysis/annotate/annotation.h"

enum { CODE_ARROW_LANES = 5 };

/* Who occupies the lanes beside each line. A jump that finds no free lane is not drawn. */
struct code_arrows {
	uint8_t *cells;            /* [line * CODE_ARROW_LANES + lane]: a part of a jump's line; lane 0 is the nearest to the code */
	size_t lines, lanes;       /* lanes in use */
	uint8_t *pairs;            /* by line: 1 the first, 2 the second of two fused instructions; NULL: none are */
};

void code_arrows_init(struct code_arrows *arrows, const struct annotation *annotation);
void code_arrows_fini(struct code_arrows *arrows);
/* The lanes of a line, from the outermost: "│┌─▸"; then the mark of a fused pair. All lines have the same number of columns; nothing where
 * the function has no jumps. */
void code_arrows_add(const struct code_arrows *arrows, size_t line, struct str *out);
