/* Blocks of code that recorded branches prove to have run: from the target of a branch to the next branch. Knows no symbol and no code. */
#pragma once
#include <stdint.h>

#include "base/hash.h"
#include "base/vec.h"
#include "session/session.h"

/* No start: the branch is the first of its sample, or its predecessor led elsewhere. */
#define BLOCK_NO_START UINT64_MAX

enum { BLOCK_FIRST = 8 };

/* Equal runs of one block, or of the branch at its end alone. */
struct block {
	uint32_t module;
	uint64_t start, end;         /* offsets in the module: of the first instruction (BLOCK_NO_START), and of the branch */
	uint64_t runs, predicted;    /* runs with a start, and those whose branch was predicted */
	uint64_t timed, cycles;      /* runs with cycles, and their sum */
	uint32_t least, most;        /* cycles of one run */
	uint32_t first[BLOCK_FIRST]; /* cycles of the first runs with cycles */
};

/* How often an event occurred before the branch at the end of a block, in all timed runs. */
struct block_count {
	uint32_t module, event;
	uint64_t end, sum;
	bool saturated;              /* a counter was at its limit: it may be more */
};

struct blocks {
	VEC(struct block) items;     /* blocks_sort: by module, end and start */
	struct idmap by_range;
	VEC(struct block_count) counts; /* of branch counters; blocks_sort: by module, end and event */
	struct idmap by_count;
	bool counts_branches;        /* a sample has had branch counters, whose fields have counter_bits */
	unsigned counter_bits;
};

void blocks_fini(struct blocks *blocks); /* accepts a zeroed one */
/* Adds the blocks of a sample's branch stack. joined: every branch is recorded, so that code runs from one to the next. */
void blocks_add_sample(struct blocks *blocks, const struct resolved *r, bool joined);
/* The same as perf counts cycles: a branch stack counts if its newest branch has cycles. Returns the cycles of all its branches. */
uint64_t blocks_add_cycles(struct blocks *blocks, const struct resolved *r, bool joined);
/* Moves the blocks of `from` into `to`. */
void blocks_merge(struct blocks *to, struct blocks *from);
void blocks_sort(struct blocks *blocks);
/* The blocks of a module that end in [start, end), after blocks_sort; stores their number. */
const struct block *blocks_in(const struct blocks *blocks, uint32_t module, uint64_t start, uint64_t end, size_t *count);

/* What the branch at an offset of a module counted of an event, after blocks_sort; NULL: nothing. */
const struct block_count *blocks_count(const struct blocks *blocks, uint32_t module, uint64_t end, uint32_t event);

/* The code that ends with one branch of a function: offsets from the function's start. The start is that of the longest run. */
struct timed_block {
	uint64_t start, end, cycles, runs;
	const struct block *longest; /* the runs with that start */
};

/* Iterates over the blocks with cycles of a function from *at = 0 on; list, count: of blocks_in. */
bool blocks_next_timed(const struct block *list, size_t count, size_t *at, uint64_t function, struct timed_block *timed);
