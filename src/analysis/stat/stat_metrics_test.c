#include "analysis/stat/stat_metrics.h"

#include <math.h>

#include "unit.h"

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-6;
}

TEST("metrics are computed for each aggregate, and from the values of metrics that they name")
{
	struct events events = { 0 };
	struct stat_table table = { 0 };
	struct stat_metrics metrics = { 0 };
	struct metric_plan plan = { 0 };
	const bool unsupported[3] = { false };
	const struct stat_place places[] = { { 0, 0 }, { 0, 1 }, { 1, 0 }, { 1, 1 } };
	const struct stat_count counts[] = { { 8, 9, 9 }, { 12, 9, 9 }, { 2000000000, 9, 9 }, { 0 } };
	EXPECT(metric_plan_add(&plan, &events, "page_fault_rate", NULL) == 0);
	EXPECT_INT(events.list.count, 2);
	stat_table_fill(&table, &events, unsupported, 2, places, counts, 4, true);
	stat_metrics_make(&metrics, &table, &plan);
	EXPECT_INT(metrics.list.count, 2);
	if (metrics.list.count == 2) {
		const struct stat_named_metric *of = metrics.list.items;
		EXPECT(of[0].aggregate == 0 && near(of[0].metric.value, 4)); /* in 2 seconds */
		EXPECT(of[1].aggregate == 1 && near(of[1].metric.value, 6));
		EXPECT_STR(of[0].metric.unit, "per_sec  page_fault_rate");
		EXPECT_INT(of[0].metric.decimals, 1);
		EXPECT(of[0].metric.level == STAT_LEVEL_NONE);
	}
	stat_metrics_fini(&metrics);
	stat_table_fini(&table);
	metric_plan_fini(&plan);
	events_fini(&events);
}

TEST("an event that cannot be counted is not a number, one that did not run is 0")
{
	struct events events = { 0 };
	struct metric_plan plan = { 0 };
	const bool unsupported[2][2] = { { true, false }, { false, false } };
	const struct stat_place places[] = { { 0, 0 }, { 1, 0 } };
	const struct stat_count counts[] = { { 0 }, { 1000000000, 9, 9 } };
	EXPECT(metric_plan_add(&plan, &events, "switch_rate", NULL) == 0);
	for (int i = 0; i < 2; i++) {
		struct stat_table table = { 0 };
		struct stat_metrics metrics = { 0 };
		stat_table_fill(&table, &events, unsupported[i], 1, places, counts, 2, true);
		stat_metrics_make(&metrics, &table, &plan);
		EXPECT_INT(metrics.list.count, 1);
		EXPECT(metrics.list.count == 1 && (i ? metrics.list.items[0].metric.value == 0 : isnan(metrics.list.items[0].metric.value)));
		stat_metrics_fini(&metrics);
		stat_table_fini(&table);
	}
	metric_plan_fini(&plan);
	events_fini(&events);
}

TEST("a threshold judges the value before it is scaled")
{
	static const struct metric bad = { .name = "m", .expression = "cs / 4", .threshold = "m > 0.5", .scale_unit = "100%" };
	struct events events = { 0 };
	struct arena arena = { 0 };
	const struct expression *value = expression_parse(&arena, bad.expression, NULL);
	const struct expression *threshold = expression_parse(&arena, bad.threshold, NULL);
	struct planned_metric planned = {
		.metric = &bad, .label = "%  m", .has_unit = true, .scale = 100, .value = value, .threshold = threshold,
	};
	struct metric_plan plan = { 0 };
	EXPECT(events_parse(&events, "cs/metric-id=x/", NULL) == 0);
	vec_push(&planned.names, ((struct planned_name){ .name = "cs", .id = events.list.items[0].terms.metric_id }));
	vec_push(&planned.names, ((struct planned_name){ .name = "m", .metric = value }));
	vec_push(&plan.list, planned);
	for (uint64_t count = 2; count < 4; count++) {
		struct stat_table table = { 0 };
		struct stat_metrics metrics = { 0 };
		stat_table_fill(&table, &events, &(bool){ false }, 1, &(struct stat_place){ 0, 0 }, &(struct stat_count){ count, 9, 9 }, 1, true);
		stat_metrics_make(&metrics, &table, &plan);
		EXPECT(metrics.list.count == 1 && near(metrics.list.items[0].metric.value, (double)count * 25));
		EXPECT(metrics.list.count == 1 && metrics.list.items[0].metric.level == (count == 2 ? STAT_LEVEL_GOOD : STAT_LEVEL_HIGH));
		stat_metrics_fini(&metrics);
		stat_table_fini(&table);
	}
	metric_plan_fini(&plan);
	events_fini(&events);
	arena_fini(&arena);
}
