/* The description of a metric: a name, an expression and how its value is shown. */
#pragma once

/* When the events of a metric do not form a group. */
enum metric_constraint { METRIC_GROUPED, METRIC_NOT_GROUPED, METRIC_NOT_GROUPED_WITH_WATCHDOG, METRIC_NOT_GROUPED_WITH_SMT };

/* Texts are NULL where they are absent. */
struct metric {
	const char *name, *expression;
	const char *groups;              /* separated by semicolons */
	const char *no_groups;           /* those of the groups in which its events are not grouped; separated by semicolons */
	const char *threshold;           /* an expression that is true where the value deserves attention */
	const char *scale_unit;          /* "100%": the factor and the unit of the value */
	const char *description, *long_description;
	const char *pmu;                 /* the kind of core that it is of; NULL: any */
	enum metric_constraint constraint;
};
