/* Statistics of the lines of an annotation, from blocks: how often code ran, where it was entered and left, and its cycles. */
#pragma once
#include "analysis/annotate/annotation.h"

/* Fills line.flow of the annotation's instructions, and annotation.flow. offset: of the symbol in its module. */
void flow_make(struct annotation *annotation, const struct blocks *blocks, uint64_t offset);
