/* The metrics of this machine by their groups, as values: those of vendors' files, and those of perfuse whose events it counts. */
#pragma once
#include "event/catalogue.h"
#include "metric/metric.h"

struct metric_entry {
	const char *group;              /* of a metric without one: its name */
	const char *group_description;  /* NULL: none */
	const struct metric *metric;
};

struct metric_entries {
	VEC(struct metric_entry) list;  /* by group, then by name; a metric of two groups is in both */
};

/* The texts are valid as long as the catalogue. */
void metric_entries_make(struct metric_entries *entries, struct catalogue *catalogue);
void metric_entries_fini(struct metric_entries *entries);
