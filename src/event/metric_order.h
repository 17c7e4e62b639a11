/* The order of the events of a metric in its group, and which of them the tool measures. Internal to event/. */
#pragma once
#include "event/metric_plan.h"

enum { METRIC_TOOLS = 4 };

/* 1 to 3 for an event that the tool measures, 0 for others; and its name. */
int metric_tool(const char *name);
const char *metric_tool_name(int tool);
/* Sorts names as perf does: by their places in its hash table, which depend on their number. */
void metric_order_names(struct planned_name *names, size_t count);
