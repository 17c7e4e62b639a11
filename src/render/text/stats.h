/* The tables of `report --stats`, --tasks and --mmaps, as perf prints them. */
#pragma once
#include <stdbool.h>

#include "analysis/count/stats.h"
#include "analysis/task/tasks.h"
#include "base/writer.h"

/* "Aggregated stats:" and one block per event. skip_empty: omit counts of 0 (perf's default). */
void stats_print(const struct stats *stats, const struct header *header, bool skip_empty, struct writer *out);
/* After tasks_arrange; with mappings where the tasks were collected with mmaps. */
void tasks_print(const struct tasks *tasks, const struct model *model, struct writer *out);
