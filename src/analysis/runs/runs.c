#include "analysis/runs/runs.h"

#include <math.h>
#include <string.h>

enum { RESULTS_VERSION = 1, SEED = 1, SERIES_MAX = 4096 };
static const double LIMIT = 0.02; /* of the corrected probability */

void runs_fini(struct runs *runs)
{
	for (size_t i = 0; i < runs->list.count; i++)
		for (int side = 0; side < RUN_SIDES; side++)
			vec_fini(&runs->list.items[i].values[side]);
	vec_fini(&runs->list);
	arena_fini(&runs->arena);
}

void runs_add(struct runs *runs, enum run_side side, const char *name, const char *unit, double value)
{
	size_t at = 0;
	if (!isfinite(value))
		return;
	while (at < runs->list.count && (strcmp(runs->list.items[at].name, name) != 0 || strcmp(runs->list.items[at].unit, unit) != 0))
		at++;
	if (at == SERIES_MAX)
		return;
	if (at == runs->list.count) {
		struct run_series *series = vec_add(&runs->list);
		series->name = arena_string(&runs->arena, name, strlen(name));
		series->unit = arena_string(&runs->arena, unit, strlen(unit));
	}
	vec_push(&runs->list.items[at].values[side], value);
}

static void compare_series(struct run_series *series)
{
	for (int side = 0; side < RUN_SIDES; side++) {
		series->median[side] = statistics_median(series->values[side].items, series->values[side].count);
		series->mad[side] = statistics_mad(series->values[side].items, series->values[side].count);
	}
	series->compared = series->values[RUN_A].count > 1 && series->values[RUN_B].count > 1;
	series->probability = 1;
	if (!series->compared)
		return;
	const double *a = series->values[RUN_A].items, *b = series->values[RUN_B].items;
	size_t a_count = series->values[RUN_A].count, b_count = series->values[RUN_B].count;
	double before = series->median[RUN_A], after = series->median[RUN_B];
	series->change = before == 0 ? after == 0 ? 0 : INFINITY : after / before - 1;
	series->interval = statistics_change_interval(a, a_count, b, b_count, statistic_median, &(struct bootstrap){ .seed = SEED });
	series->probability = statistics_mann_whitney(a, a_count, b, b_count);
}

void runs_compare(struct runs *runs)
{
	double *probabilities CLEANUP_FREE = memory_zero(runs->list.count + 1, sizeof *probabilities);
	size_t compared = 0;
	for (size_t i = 0; i < runs->list.count; i++) {
		compare_series(&runs->list.items[i]);
		if (runs->list.items[i].compared)
			probabilities[compared++] = runs->list.items[i].probability;
	}
	statistics_holm(probabilities, compared);
	compared = 0;
	for (size_t i = 0; i < runs->list.count; i++) {
		struct run_series *series = &runs->list.items[i];
		if (!series->compared)
			continue;
		series->probability = probabilities[compared++];
		series->changed = series->probability <= LIMIT && fabs(series->change) > RUNS_MARGIN;
	}
}

double runs_largest(const struct runs *runs)
{
	double largest = 0;
	for (size_t i = 0; i < runs->list.count; i++)
		if (runs->list.items[i].changed && fabs(runs->list.items[i].change) > largest)
			largest = fabs(runs->list.items[i].change);
	return largest;
}

enum { COUNTER, UNIT, MEDIAN_A, MAD_A, RUNS_A, MEDIAN_B, MAD_B, RUNS_B, CHANGE, LOW, HIGH, PROBABILITY, CHANGED };

static const struct table_column run_columns[] = {
	[COUNTER] = { "counter", "Counter", NULL, CELL_TEXT }, [UNIT] = { "unit", "Unit", NULL, CELL_TEXT },
	[MEDIAN_A] = { "median_a", "Median A", NULL, CELL_REAL }, [MAD_A] = { "mad_a", "MAD A", NULL, CELL_REAL },
	[RUNS_A] = { "runs_a", "Runs A", NULL, CELL_COUNT },
	[MEDIAN_B] = { "median_b", "Median B", NULL, CELL_REAL }, [MAD_B] = { "mad_b", "MAD B", NULL, CELL_REAL },
	[RUNS_B] = { "runs_b", "Runs B", NULL, CELL_COUNT },
	[CHANGE] = { "change", "Change", "percent", CELL_REAL }, [LOW] = { "low", "Low", "percent", CELL_REAL },
	[HIGH] = { "high", "High", "percent", CELL_REAL }, [PROBABILITY] = { "p", "p", NULL, CELL_REAL },
	[CHANGED] = { "changed", "Changed", NULL, CELL_FLAG },
};

static struct cell real_cell(bool known, double value)
{
	return known && isfinite(value) ? (struct cell){ .kind = CELL_REAL, .real = value } : cell_absent();
}

static struct cell run_cell(void *context, uint64_t row, size_t column, struct str *scratch)
{
	const struct runs *runs = context;
	const struct run_series *series = &runs->list.items[row - 1];
	switch (column) {
	case COUNTER:
		return cell_text(series->name);
	case UNIT:
		return cell_text(*series->unit ? series->unit : NULL);
	case MEDIAN_A:
	case MEDIAN_B:
		return real_cell(true, series->median[column == MEDIAN_B]);
	case MAD_A:
	case MAD_B:
		return real_cell(true, series->mad[column == MAD_B]);
	case RUNS_A:
	case RUNS_B:
		return cell_count(series->values[column == RUNS_B].count);
	case CHANGE:
		return real_cell(series->compared, 100 * series->change);
	case LOW:
		return real_cell(series->compared, 100 * series->interval.low);
	case HIGH:
		return real_cell(series->compared, 100 * series->interval.high);
	case PROBABILITY:
		return real_cell(series->compared, series->probability);
	default:
		return series->compared ? cell_flag(series->changed) : cell_absent();
	}
}

static size_t run_count(void *context, uint64_t parent)
{
	return parent == TABLE_TOP ? ((const struct runs *)context)->list.count : 0;
}

void runs_results_init(struct runs_results *results, const struct runs *runs, const char *const names[RUN_SIDES])
{
	*results = (struct runs_results){
		.results = { .schema = "perfuse.compare", .version = RESULTS_VERSION, .tables = &results->table, .table_count = 1,
			.facts = results->facts, .fact_count = RUN_SIDES },
		.table = { .name = "counters", .columns = run_columns, .column_count = sizeof run_columns / sizeof *run_columns,
			.context = (void *)runs, .row_count = run_count, .row = table_row_in_order, .cell = run_cell },
		.facts = { { "a", cell_text(names[RUN_A]) }, { "b", cell_text(names[RUN_B]) } },
	};
}
