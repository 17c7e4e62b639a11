/* The recording of `sched stats record`: the scheduler's counters of two moments, as perf 7 stores them. Internal to cmd/sched. */
#pragma once
#include "base/error.h"
#include "os/cpus.h"
#include "os/schedstat.h"

/* cpus: those whose counters are recorded; empty: all. argv: the words of the whole command. Returns < 0 with *err. */
int stats_record_write(const char *path, const struct schedstat moments[2], const struct cpus *cpus, const char *program,
	struct error *err);
