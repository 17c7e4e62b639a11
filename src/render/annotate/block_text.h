/* Blocks of code by their cycles, as perf's report --total-cycles prints them. */
#pragma once
#include "analysis/annotate/hot_blocks.h"
#include "base/writer.h"
#include "data/branch_counters.h"

struct block_text {
	const struct hot_blocks *hot;
	struct symbols *symbols;
	const struct branch_counters *counters; /* a column of them if there are any … */
	const struct blocks *blocks;            /* … of these, sorted */
	bool numbers;           /* counters are numbers, not letters */
	float min_percent;      /* of all cycles */
	const char *separator;  /* NULL: blanks */
	bool headers;
};

void block_text_print(const struct block_text *text, struct writer *out);
