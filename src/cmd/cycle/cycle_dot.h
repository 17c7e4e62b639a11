/* A flow graph between functions in the language of Graphviz. */
#pragma once
#include "analysis/cycle/cycle_tables.h"
#include "base/writer.h"

/* Functions of the edges above the filter; those of the chosen cycle and their edges are marked. */
void cycle_dot_write(const struct cycle_result *result, struct writer *out);
/* A text between quotes. */
void dot_text(struct writer *out, const char *text);
