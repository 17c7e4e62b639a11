/* `diff -c cycles`: the average cycles of blocks of code, from branch stacks, compared with those of the baseline. */
#pragma once
#include "analysis/annotate/blocks.h"
#include "analysis/compare/diff.h"
#include "base/arena.h"

/* Fills row.blocks of all rows. blocks: by file, sorted; the texts are the arena's. */
void cycles_compare(struct diff *diff, const struct blocks *const *blocks, struct arena *arena);
