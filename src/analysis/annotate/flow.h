/* What blocks say of the lines of an annotation: how often code ran, where it was entered and left, cycles and instructions per cycle. */
#pragma once
#include "analysis/annotate/annotation.h"

/* Fills line.flow of the annotation's instructions, and annotation.flow. offset: of the symbol in its module. */
void flow_make(struct annotation *annotation, const struct blocks *blocks, uint64_t offset);
