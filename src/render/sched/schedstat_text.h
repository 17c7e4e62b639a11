/* The report and the comparison of `sched stats` in the layout of perf 7, as its manual (perf-sched.txt) shows them. */
#pragma once
#include "analysis/sched/schedstats.h"
#include "base/writer.h"

/* explained: a description of each counter instead of its name (-v). */
void schedstats_print(const struct schedstats *stats, bool explained, struct writer *out);
/* The averages of two recordings side by side. */
void schedstats_print_diff(const struct schedstats *before, const struct schedstats *after, bool explained, struct writer *out);
