/* What the counters of a run are added up to: by CPU, core … or thread, with the label of each sum. */
#pragma once
#include "analysis/stat/stat_table.h"
#include "base/arena.h"
#include "record/count/counting.h"
#include "render/stat/stat_text.h"

struct aggregates {
	struct arena arena;
	VEC(const char *) labels;
	VEC(struct stat_place) places;   /* of each slot of the run */
};

void aggregates_make(struct aggregates *aggregates, const struct counting *counting, enum stat_grain grain, int cache_level);
void aggregates_fini(struct aggregates *aggregates);
