#include "analysis/stat/stat_table.h"

#include <math.h>
#include <string.h>

#include "base/statistics.h"
#include "base/whole.h"

void stat_table_fini(struct stat_table *table)
{
	vec_fini(&table->rows);
	vec_fini(&table->values);
	vec_fini(&table->sums);
	vec_fini(&table->spreads);
}

void stat_spread_add(struct stat_spread *spread, double value)
{
	double before = value - spread->mean;
	spread->runs++;
	spread->mean += before / spread->runs;
	spread->squares += before * (value - spread->mean);
}

double stat_spread_error(const struct stat_spread *spread)
{
	if (spread->runs < 2)
		return 0;
	return sqrt(spread->squares / (spread->runs - 1) / spread->runs);
}

double stat_spread_percent(const struct stat_spread *spread)
{
	return spread->mean != 0 ? 100 * stat_spread_error(spread) / spread->mean : 0;
}

bool stat_is_clock(const struct event *event)
{
	return event->attr.type == ATTR_SOFTWARE && event->attr.config <= 1;
}

double stat_shown(const struct stat_table *table, const struct stat_row *row)
{
	return row->value * table->events->list.items[row->event].scale;
}

static void make_rows(struct stat_table *table, const struct events *events, uint32_t aggregates)
{
	table->events = events;
	table->aggregates = aggregates;
	for (uint32_t i = 0; i < events->list.count; i++)
		for (uint32_t k = 0; k < aggregates; k++) {
			vec_push(&table->rows, ((struct stat_row){ .event = i, .aggregate = k }));
			vec_push(&table->sums, (struct stat_sum){ 0 });
			vec_push(&table->spreads, (struct stat_spread){ 0 });
		}
}

/* As perf: each count is scaled separately, to a whole number below. */
static uint64_t scaled(const struct stat_count *count, bool scale)
{
	if (!scale)
		return count->value;
	if (!count->running)
		return 0;
	if (count->running >= count->enabled)
		return count->value;
	return whole_below((double)count->value * (double)count->enabled / (double)count->running);
}

static void add_count(struct stat_table *table, const struct stat_place *place, const struct stat_count *count, uint64_t value)
{
	uint32_t event = table->merged ? table->merged[place->event] : place->event;
	size_t at = (size_t)event * table->aggregates + place->aggregate;
	struct stat_row *row = &table->rows.items[at];
	struct stat_sum *sum = &table->sums.items[at];
	if (count->absent || (table->skip_zero && !value))
		return;
	row->counters += event == place->event;
	if (table->strict && (!count->enabled || !count->running)) {
		sum->failed = true;
		sum->value = row->enabled = row->running = 0;
	}
	if (sum->failed)
		return;
	sum->value += value;
	row->enabled += count->enabled;
	row->running += count->running;
}

static void close_row(struct stat_table *table, size_t at, bool unsupported)
{
	struct stat_row *row = &table->rows.items[at];
	struct stat_spread *spread = &table->spreads.items[at];
	row->state = unsupported ? STAT_NOT_SUPPORTED : row->running && row->enabled ? STAT_COUNTED : STAT_NOT_COUNTED;
	if (table->last || table->cumulative)
		*spread = (struct stat_spread){ 0 };
	stat_spread_add(spread, (double)table->sums.items[at].value);
	if (table->keeps)
		vec_push(&table->values, (double)table->sums.items[at].value);
	row->value = floor(spread->mean);
	row->noise_percent = stat_spread_percent(spread);
}

void stat_table_fill(struct stat_table *table, const struct events *events, const bool *unsupported, uint32_t aggregates,
	const struct stat_place *places, const struct stat_count *counts, size_t count, bool scale)
{
	if (!table->rows.count)
		make_rows(table, events, aggregates);
	for (size_t i = 0; i < table->rows.count && !table->cumulative; i++) {
		struct stat_row *row = &table->rows.items[i];
		row->counters = 0;
		row->enabled = row->running = 0;
		table->sums.items[i] = (struct stat_sum){ 0 };
	}
	for (size_t i = 0; i < count; i++)
		add_count(table, &places[i], &counts[i], scaled(&counts[i], scale));
	for (size_t i = 0; i < table->rows.count; i++)
		close_row(table, i, unsupported[table->rows.items[i].event]);
}

static bool same_code(const struct event *a, const struct event *b)
{
	const enum attr_flag flags[] = { ATTR_EXCLUDE_KERNEL, ATTR_EXCLUDE_USER, ATTR_EXCLUDE_HV, ATTR_EXCLUDE_HOST };
	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
		if (attr_flag(&a->attr, flags[i]) != attr_flag(&b->attr, flags[i]))
			return false;
	return true;
}

static bool is_percore(const struct event *event)
{
	return event->terms.set & EVENT_TERM_PERCORE && event->terms.percore;
}

void stat_table_percore(struct stat_table *table, const uint32_t *cores)
{
	for (size_t i = 0; i < table->events->list.count; i++) {
		struct stat_row *rows = &table->rows.items[i * table->aggregates];
		if (!is_percore(&table->events->list.items[i]))
			continue;
		for (uint32_t k = 0; k < table->aggregates; k++) {
			struct stat_row *first = &rows[cores[k]];
			if (first == &rows[k])
				continue;
			first->value += rows[k].value;
			first->enabled += rows[k].enabled;
			first->running += rows[k].running;
			first->state = rows[k].state == STAT_COUNTED ? STAT_COUNTED : first->state;
		}
		for (uint32_t k = 0; k < table->aggregates; k++) {
			rows[k].value = rows[cores[k]].value;
			rows[k].enabled = rows[cores[k]].enabled;
			rows[k].running = rows[cores[k]].running;
			rows[k].state = rows[cores[k]].state;
		}
	}
}

double stat_robust_of(const double *values, size_t count, struct stat_robust *robust)
{
	enum { SEED = 1 }; /* equal runs print equal intervals */
	const struct bootstrap how = { .seed = SEED };
	struct interval interval = statistics_interval(values, count, statistic_median, &how);
	*robust = (struct stat_robust){ statistics_mad(values, count), interval.low, interval.high };
	return statistics_median(values, count);
}

void stat_table_robust(struct stat_table *table)
{
	size_t rows = table->rows.count, runs = rows ? table->values.count / rows : 0;
	VEC(double) column = { 0 };
	for (size_t i = 0; i < rows && runs; i++) {
		vec_clear(&column);
		for (size_t run = 0; run < runs; run++)
			vec_push(&column, table->values.items[run * rows + i]);
		table->rows.items[i].value = stat_robust_of(column.items, runs, &table->rows.items[i].robust);
	}
	vec_fini(&column);
}

/* A member of a group is related to events of its group only, and nothing to a mean latency. */
static bool may_relate(const struct event *list, uint32_t event, uint32_t to)
{
	return event != to && !list[to].retire_latency && (list[list[event].leader].members < 2 || list[event].leader == list[to].leader);
}

static bool same_cgroup(const struct event *a, const struct event *b)
{
	return a->cgroup == b->cgroup || (a->cgroup && b->cgroup && strcmp(a->cgroup, b->cgroup) == 0);
}

/* The value of the row's aggregate for an event of that number, about the same code; 0 without one. */
static double value_of(const struct stat_table *table, const struct stat_row *row, uint32_t type, uint64_t config)
{
	const struct event *list = table->events->list.items;
	for (uint32_t i = 0; i < table->events->list.count; i++) {
		const struct stat_row *other = &table->rows.items[(size_t)i * table->aggregates + row->aggregate];
		if (list[i].attr.type == type && list[i].attr.config == config && may_relate(list, row->event, i) &&
		    same_cgroup(&list[i], &list[row->event]) && same_code(&list[i], &list[row->event]) && other->state == STAT_COUNTED)
			return other->value;
	}
	return 0;
}

static double clock_ns(const struct stat_table *table, const struct stat_row *row)
{
	const struct event *list = table->events->list.items;
	for (uint32_t i = 0; i < table->events->list.count; i++) {
		const struct stat_row *other = &table->rows.items[(size_t)i * table->aggregates + row->aggregate];
		if (stat_is_clock(&list[i]) && may_relate(list, row->event, i) && same_cgroup(&list[i], &list[row->event]) &&
		    same_code(&list[i], &list[row->event]) && other->state == STAT_COUNTED && other->value > 0)
			return other->value;
	}
	return 0;
}

/* Events that are a share of another one. */
static const struct {
	uint32_t type, of_type;
	uint64_t config, of;
	const char *unit;
	bool percent;
	uint8_t levels[3];       /* percentages above which a share deserves attention: high, middle, low */
} shares[] = {
	{ ATTR_HARDWARE, ATTR_HARDWARE, 1, 0, "insn per cycle", false, { 0 } },
	{ ATTR_HARDWARE, ATTR_HARDWARE, 3, 2, "of all cache refs", true, { 20, 10, 5 } },
	{ ATTR_HARDWARE, ATTR_HARDWARE, 5, 4, "of all branches", true, { 20, 10, 5 } },
	{ ATTR_HARDWARE, ATTR_HARDWARE, 7, 0, "frontend cycles idle", true, { 50, 30, 10 } },
	{ ATTR_HARDWARE, ATTR_HARDWARE, 8, 0, "backend cycles idle", true, { 75, 50, 20 } },
	{ ATTR_HW_CACHE, ATTR_HW_CACHE, 0x10000, 0, "of all L1-dcache accesses", true, { 20, 10, 5 } },
	{ ATTR_HW_CACHE, ATTR_HW_CACHE, 0x10001, 1, "of all L1-icache accesses", true, { 20, 10, 5 } },
	{ ATTR_HW_CACHE, ATTR_HW_CACHE, 0x10002, 2, "of all LL-cache accesses", true, { 20, 10, 5 } },
	{ ATTR_HW_CACHE, ATTR_HW_CACHE, 0x10003, 3, "of all dTLB cache accesses", true, { 20, 10, 5 } },
	{ ATTR_HW_CACHE, ATTR_HW_CACHE, 0x10004, 4, "of all iTLB cache accesses", true, { 20, 10, 5 } },
};

static enum stat_level level_of(double percent, const uint8_t levels[3])
{
	return percent > levels[0] ? STAT_LEVEL_HIGH : percent > levels[1] ? STAT_LEVEL_MIDDLE : percent > levels[2] ? STAT_LEVEL_LOW :
		STAT_LEVEL_NONE;
}

static struct stat_metric share_of(const struct stat_table *table, const struct stat_row *row, bool *found)
{
	const struct event *event = &table->events->list.items[row->event];
	for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
		if (shares[i].type != event->attr.type || shares[i].config != event->attr.config)
			continue;
		double whole = value_of(table, row, shares[i].of_type, shares[i].of);
		bool known = whole > 0 && (!shares[i].percent || row->value > 0);
		double value = known ? row->value / whole * (shares[i].percent ? 100 : 1) : 0;
		*found = true;
		return (struct stat_metric){
			.known = known, .value = value, .decimals = 2, .percent = shares[i].percent, .narrow = !shares[i].percent,
			.unit = shares[i].unit,
			.level = known && shares[i].percent ? level_of(value, shares[i].levels) : STAT_LEVEL_NONE,
		};
	}
	return (struct stat_metric){ 0 };
}

static struct stat_metric rate(double per_second)
{
	static const char *const units[] = { "/sec", "K/sec", "M/sec", "G/sec" };
	size_t unit = 0;
	for (; per_second > 1000 && unit + 1 < sizeof units / sizeof units[0]; unit++)
		per_second /= 1000;
	return (struct stat_metric){ .known = true, .value = per_second, .decimals = 3, .unit = units[unit] };
}

static struct stat_metric metric_of(const struct stat_table *table, const struct stat_row *row, double wall_ns)
{
	const struct event *event = &table->events->list.items[row->event];
	bool found = false;
	if (row->state != STAT_COUNTED)
		return (struct stat_metric){ 0 };
	if (stat_is_clock(event))
		return (struct stat_metric){
			.known = wall_ns > 0, .value = wall_ns > 0 ? row->value / wall_ns : 0, .decimals = 3, .unit = "CPUs utilized",
		};
	struct stat_metric metric = share_of(table, row, &found);
	double ns = clock_ns(table, row);
	if (!found && event->attr.type == ATTR_HARDWARE && event->attr.config == 0)
		return (struct stat_metric){ .known = ns > 0, .value = ns > 0 ? row->value / ns : 0, .decimals = 3, .unit = "GHz" };
	if (metric.known || found || ns <= 0)
		return metric;
	return rate(row->value / ns * 1e9);
}

void stat_table_metrics(struct stat_table *table, double wall_ns)
{
	for (size_t i = 0; i < table->rows.count; i++)
		table->rows.items[i].metric = metric_of(table, &table->rows.items[i], wall_ns);
}
