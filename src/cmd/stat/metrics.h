/* -M and --topdown of `stat`: metrics as events, and what is printed of them. */
#pragma once
#include "cmd/stat/stat.h"

/* Adds the events of the metrics that the options name, of --topdown, -T and --smi-cost. Returns an exit code. */
int stat_metrics_take(struct stat_run *run);
/* Checks --metric-only against the other options. Returns an exit code. */
int stat_metrics_check(const struct stat_run *run);
