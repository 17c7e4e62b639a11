#include "analysis/stat/stat_metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "event/event_names.h"

/* The values of one metric's names for one aggregate. */
struct valuing {
	const struct stat_table *table;
	const struct metric_plan *plan;
	const struct planned_metric *metric;
	uint32_t aggregate;
	double *values;          /* of the names that are metrics; computed once */
	bool *known;
	struct expression_names names;
};

/* The sum of the events with that id. Those that the tool measures are of all aggregates, in seconds. */
static double sum_of_events(const struct valuing *v, const char *id, double *sources)
{
	const struct event *list = v->table->events->list.items;
	double sum = 0;
	bool any = false;
	for (uint32_t i = 0; i < v->table->events->list.count; i++) {
		if (list[i].terms.metric_id != id)
			continue;
		const struct stat_row *rows = &v->table->rows.items[(size_t)i * v->table->aggregates];
		bool tool = list[i].attr.type == EVENT_TYPE_TOOL;
		for (uint32_t k = tool ? 0 : v->aggregate; k < (tool ? v->table->aggregates : v->aggregate + 1); k++) {
			if (rows[k].state == STAT_NOT_SUPPORTED)
				continue;
			sum += tool ? rows[k].value / 1e9 : rows[k].value;
			any = true;
		}
		*sources += rows[tool ? 0 : v->aggregate].state != STAT_NOT_SUPPORTED;
	}
	return any ? sum : NAN;
}

static double value_of_name(void *context, const char *name, double *sources)
{
	struct valuing *v = context;
	for (size_t i = 0; i < v->metric->names.count; i++) {
		const struct planned_name *from = &v->metric->names.items[i];
		if (strcmp(from->name, name) != 0)
			continue;
		if (!from->metric)
			return sum_of_events(v, from->id, sources);
		if (!v->known[i]) {
			v->values[i] = expression_value(from->metric, &v->names);
			v->known[i] = true;
		}
		*sources = 1;
		return v->values[i];
	}
	return NAN;
}

static double literal_of(void *context, const char *name)
{
	const struct valuing *v = context;
	return metric_plan_literal(v->plan, name);
}

static bool exists(void *context, const char *name)
{
	double sources = 0;
	return !isnan(value_of_name(context, name, &sources));
}

static bool is_cpu(void *context, const char *pattern)
{
	char cpu[128];
	(void)context;
	return vendor_cpu(cpu, sizeof cpu) && vendor_cpu_matches(pattern, cpu);
}

static void add_metric(struct stat_metrics *metrics, struct valuing *v)
{
	const struct planned_metric *m = v->metric;
	struct stat_named_metric *named = vec_add(&metrics->list);
	size_t count = m->names.count + 1;
	v->values = memory_zero(count, sizeof *v->values);
	v->known = memory_zero(count, sizeof *v->known);
	named->event = m->shown_at;
	named->aggregate = v->aggregate;
	named->metric = (struct stat_metric){
		.known = true, .value = expression_value(m->value, &v->names) * m->scale, .decimals = m->has_unit ? 1 : 2, .unit = m->label,
	};
	double verdict = m->threshold ? expression_value(m->threshold, &v->names) : NAN;
	named->metric.level = isnan(verdict) ? STAT_LEVEL_NONE : verdict == 0 ? STAT_LEVEL_GOOD : STAT_LEVEL_HIGH;
	free(v->values);
	free(v->known);
}

void stat_metrics_make(struct stat_metrics *metrics, const struct stat_table *table, const struct metric_plan *plan)
{
	for (uint32_t k = 0; k < table->aggregates; k++)
		for (size_t i = 0; i < plan->list.count; i++) {
			const struct planned_metric *m = &plan->list.items[i];
			struct valuing v = { .table = table, .plan = plan, .metric = m, .aggregate = k };
			v.names = (struct expression_names){ &v, value_of_name, literal_of, exists, is_cpu };
			if (m->shown_at < table->events->list.count)
				add_metric(metrics, &v);
		}
}

void stat_metrics_fini(struct stat_metrics *metrics)
{
	vec_fini(&metrics->list);
}
