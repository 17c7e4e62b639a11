/* Names of metrics and of their groups → the events that they need, in event groups that the counters are likely to hold, and for each
 * metric the origin of its values. Metrics are those of vendors' files, then those of perfuse. Opens no counter. */
#pragma once
#include "event/event.h"
#include "event/metric_machine.h"
#include "metric/expression.h"
#include "metric/metric.h"

/* Limits of foreign metrics. */
enum { METRIC_NAMES_MAX = 4096, METRIC_REFERENCES_MAX = 24, METRIC_LIST_MAX = 4096, METRIC_TOTAL_MAX = 1 << 15 };

/* A name in the expressions of a planned metric: events, or another metric. */
struct planned_name {
	const char *name;
	const char *id;                        /* terms.metric_id of its events: the same pointer */
	const struct expression *metric;       /* NULL: events */
};

struct planned_metric {
	const struct metric *metric;
	const char *label;                     /* "%  tma_retiring": the unit and the name */
	bool has_unit;
	double scale;                          /* of the value in the unit */
	const char *modifiers;                 /* "u"; "": none */
	const struct expression *value, *threshold; /* threshold NULL: absent, or not requested */
	VEC(struct planned_name) names;
	const char *asked;                     /* the word of the user: its name or a group */
	uint32_t shown_at;                     /* the event in whose row it is shown */
};

struct metric_options {
	bool no_group, no_merge, no_threshold;
	struct metric_target target;
};

struct metric_plan {
	VEC(struct planned_metric) list;       /* in the order in which those of one event are shown */
	struct metric_options options;
	double slots;                          /* of a cycle, as the PMU reports them; 0: unknown */
	struct arena arena;
};

/* Appends the events of the metrics: names and groups, separated by commas; "name:u" has modifiers. < 0: *err names the wrong metric or
 * event; ERROR_LIMIT: a metric refers to itself, or to too many. */
int metric_plan_add(struct metric_plan *plan, struct events *events, const char *text, struct error *err);
/* The value of a literal; NAN: unknown. */
double metric_plan_literal(const struct metric_plan *plan, const char *name);
void metric_plan_fini(struct metric_plan *plan);

/* All metrics by name, the files' and perfuse's; a file's name hides perfuse's. */
struct metric_list {
	VEC(const struct metric *) list;
};

void metric_list_make(struct metric_list *list, struct pmus *pmus);
void metric_list_fini(struct metric_list *list);
/* Whether a file has a metric of that name, or of its topdown group. */
bool metric_is_hidden(struct pmus *pmus, const struct metric *own);
/* NULL: unknown. */
const struct metric *metric_find(struct pmus *pmus, const char *name);
/* Whether a list like "a;b" has the word, in any case. */
bool metric_groups_have(const char *groups, const char *word);
/* Appends the events of one metric, ungrouped. < 0: the machine has not all of them; then `events` is unchanged. */
int metric_plan_events(struct events *events, const struct metric *metric);
