/* The table of `report -T`. */
#pragma once
#include <stdbool.h>

#include "analysis/count/thread_values.h"
#include "base/writer.h"

/* raw: one counter after the other instead of a column each. */
void thread_values_print(const struct thread_values *values, const struct evlist *evlist, bool raw, struct writer *out);
