/* The metrics of perfuse: those that every processor with a PMU has, by the kernel's generic names. */
#pragma once
#include "metric/metric.h"

/* By name; the last one has no name. */
extern const struct metric own_metrics[];
