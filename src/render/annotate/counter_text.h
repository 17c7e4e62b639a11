/* The mean counts of branch counters, as perf prints them: letters for each event, or with numbers "A=2 ,B=- ". */
#pragma once
#include "analysis/annotate/blocks.h"
#include "base/str.h"
#include "data/branch_counters.h"

enum { COUNTER_TEXT_WIDTH = 30 };
#define COUNTER_TEXT_TITLE "Branch Counter"

/* Appends what the branch at an offset of a module counted in so many runs. runs 0: it has no counts. */
void counter_text_add(const struct branch_counters *counters, const struct blocks *blocks, uint32_t module, uint64_t end, uint64_t runs,
	bool numbers, struct str *text);
