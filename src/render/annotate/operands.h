/* The operands of an x86 instruction as perf's browser shows them: known symbols instead of addresses, no blank after a comma. */
#pragma once
#include "analysis/annotate/annotation.h"
#include "base/str.h"

/* Appends "movq  %rax,%rdx": the first word of the mnemonic, padded to `width`, and the operands. */
void operands_add(struct str *out, const struct annotation *annotation, const struct annotated_line *line, int width);
/* The length of the first word of the mnemonic: what width is the largest of. */
int operands_word(const struct annotated_line *line);
