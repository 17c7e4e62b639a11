/* The metrics of a plan, computed from a table of counts: one value for each metric and aggregate. */
#pragma once
#include "analysis/stat/stat_table.h"
#include "event/metric_plan.h"

struct stat_named_metric {
	uint32_t event, aggregate;       /* the row in which it is shown */
	struct stat_metric metric;       /* its unit is the label of the plan, its level says whether the threshold is exceeded */
};

struct stat_metrics {
	VEC(struct stat_named_metric) list; /* by aggregate, then in the order of the plan */
};

/* The table is of the plan's events. A metric without a number (a division by zero, an event that cannot be counted) has the value NAN. */
void stat_metrics_make(struct stat_metrics *metrics, const struct stat_table *table, const struct metric_plan *plan);
void stat_metrics_fini(struct stat_metrics *metrics);
