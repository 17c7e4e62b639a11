/* What `compare` reads of a recording of `stat record`. */
#pragma once
#include "analysis/runs/runs.h"
#include "base/budget.h"
#include "base/error.h"

/* Whether a file starts as a recording: in either byte order, and as first published. */
bool recording_starts(const void *bytes, size_t len);
/* Adds a value of each event for each interval of a recording; of one without intervals: for its run. A value is the sum over CPUs and
 * threads, scaled as `stat report` does. An event that did not run in an interval has no value there. Fails if there is no value at all. */
int recording_read(const char *path, struct runs *runs, enum run_side side, struct budget *budget, struct error *err);
