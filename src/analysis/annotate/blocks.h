/* Blocks of code that recorded branches prove to have run: from the target of a branch to the next branch. Knows no symbol and no code. */
#pragma once
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"
#include "session/session.h"

/* No start: the branch is the first of its sample, or its predecessor led elsewhere. */
#define BLOCK_NO_START UINT64_MAX

/* Equal runs of one block, or of the branch at its end alone. */
struct block {
	uint32_t module;
	uint64_t start, end;         /* offsets in the module: of the first instruction (BLOCK_NO_START), and of the branch */
	uint64_t runs, predicted;    /* runs with a start, and those whose branch was predicted */
	uint64_t timed, cycles;      /* runs with cycles, and their sum */
	uint32_t least, most;        /* cycles of one run */
};

struct blocks {
	VEC(struct block) items;     /* blocks_sort: by module, end and start */
	struct idmap by_range;
};

void blocks_fini(struct blocks *blocks); /* accepts a zeroed one */
/* Adds the blocks of a sample's branch stack. */
void blocks_add_sample(struct blocks *blocks, const struct resolved *r);
/* Moves the blocks of `from` into `to`. */
void blocks_merge(struct blocks *to, struct blocks *from);
void blocks_sort(struct blocks *blocks);
/* The blocks of a module that end in [start, end), after blocks_sort; stores their number. */
const struct block *blocks_in(const struct blocks *blocks, uint32_t module, uint64_t start, uint64_t end, size_t *count);
