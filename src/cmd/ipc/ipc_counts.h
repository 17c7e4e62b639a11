/* The counts of `stat record -I` as tracks: each interval of a CPU's or thread's counters is a range. */
#pragma once
#include "analysis/ipc/ipc_counters.h"
#include "base/budget.h"
#include "base/error.h"

/* False in *found: the recording has no such counts. < 0: it is damaged. */
int ipc_counts_read(const char *path, const struct ipc_roles *roles, struct ipc_tracks *tracks, struct budget *budget, bool *found,
	struct error *err);
