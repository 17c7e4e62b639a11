#include "analysis/sched/schedstats.h"

#include <stdio.h>
#include <stdlib.h>

enum { CPU_SWITCHES = 2, CPU_WAKEUPS = 4, CPU_RUN = 6 };

void schedstats_fini(struct schedstats *stats)
{
	vec_fini(&stats->moments);
	vec_fini(&stats->rows);
	idmap_fini(&stats->by_place);
}

/* Domains have 16 bits. */
static uint64_t place_of(uint32_t cpu, int32_t domain)
{
	return (uint64_t)cpu << 32 | (uint32_t)(domain + 1);
}

void schedstats_add(struct schedstats *stats, const struct schedstat_row *row)
{
	bool added = false;
	uint32_t at = idmap_add(&stats->by_place, place_of(row->cpu, row->domain), (uint32_t)stats->moments.count, &added);
	if (added)
		vec_add(&stats->moments)->first = *row;
	stats->moments.items[at].last = *row;
	stats->moments.items[at].both = !added;
}

static struct schedstat_row counted(const struct schedstat_row *first, const struct schedstat_row *last)
{
	struct schedstat_row row = *last;
	row.timestamp = last->timestamp - first->timestamp;
	for (unsigned i = 0; i < SCHEDSTAT_VALUES_MAX; i++) {
		row.values[i] = last->values[i] - first->values[i];
		if (!schedstat_is_wide(last, i))
			row.values[i] = (uint32_t)row.values[i];
	}
	return row;
}

static int compare_places(const void *a, const void *b)
{
	const struct schedstat_row *x = a, *y = b;
	return x->cpu != y->cpu ? (x->cpu < y->cpu ? -1 : 1) : (x->domain > y->domain) - (x->domain < y->domain);
}

static int compare_domains(const void *a, const void *b)
{
	const struct schedstat_row *x = a, *y = b;
	return x->domain != y->domain ? (x->domain < y->domain ? -1 : 1) : compare_places(a, b);
}

/* Averages of rows that are ordered by domain, integers as the counters are. */
static void add_averages(struct schedstats *stats, const struct schedstat_row *rows, size_t count)
{
	for (size_t i = 0, end; i < count; i = end) {
		struct schedstat_row average = rows[i];
		for (end = i + 1; end < count && rows[end].domain == rows[i].domain; end++)
			for (unsigned k = 0; k < SCHEDSTAT_VALUES_MAX; k++)
				average.values[k] += rows[end].values[k];
		for (unsigned k = 0; k < SCHEDSTAT_VALUES_MAX; k++)
			average.values[k] /= end - i;
		average.cpu = SCHEDSTATS_ALL;
		vec_push(&stats->rows, average);
	}
}

int schedstats_finish(struct schedstats *stats, struct error *err)
{
	VEC(struct schedstat_row) rows = { 0 };
	stats->version = stats->moments.count ? stats->moments.items[0].first.version : 0;
	int status = 0;
	for (size_t i = 0; i < stats->moments.count && status == 0; i++) {
		const struct schedstat_row *first = &stats->moments.items[i].first, *last = &stats->moments.items[i].last;
		if (first->version != stats->version || last->version != stats->version)
			status = error_set(err, ERROR_FORMAT, "the counters have the versions %u and %u", stats->version,
				first->version != stats->version ? first->version : last->version);
		if (stats->moments.items[i].both) {
			vec_push(&rows, counted(first, last));
			stats->jiffies = last->timestamp - first->timestamp;
		}
	}
	if (status == 0 && !rows.count)
		status = error_set(err, ERROR_FORMAT, "no CPU has counters of two moments");
	if (status == 0) {
		qsort(rows.items, rows.count, sizeof *rows.items, compare_domains);
		add_averages(stats, rows.items, rows.count);
		qsort(rows.items, rows.count, sizeof *rows.items, compare_places);
		for (size_t i = 0; i < rows.count; i++)
			vec_push(&stats->rows, rows.items[i]);
	}
	vec_fini(&rows);
	return status;
}

static struct schedstat_report_line *add_line(struct schedstat_report_line *lines, size_t *count, const char *heading)
{
	struct schedstat_report_line *line = &lines[(*count)++];
	*line = (struct schedstat_report_line){ .heading = heading, .base = -1 };
	return line;
}

static size_t cpu_lines(struct schedstat_report_line *lines)
{
	static const struct {
		const char *name;
		int base;
	} counters[SCHEDSTAT_CPU_VALUES] = {
		{ "yld_count", -1 }, { "array_exp", -1 }, { "sched_count", -1 }, { "sched_goidle", CPU_SWITCHES }, { "ttwu_count", -1 },
		{ "ttwu_local", CPU_WAKEUPS }, { "rq_cpu_time", -1 }, { "run_delay", CPU_RUN }, { "pcount", -1 },
	};
	size_t count = 0;
	for (unsigned i = 0; i < SCHEDSTAT_CPU_VALUES; i++) {
		struct schedstat_report_line *line = add_line(lines, &count, NULL);
		snprintf(line->name, sizeof line->name, "%s", counters[i].name);
		line->index = i;
		line->base = counters[i].base;
	}
	return count;
}

enum { BALANCE_COUNT, BALANCE_BALANCED, BALANCE_FAILED, BALANCE_COUNTERS_15 = 8, BALANCE_COUNTERS_17 = 11 };

/* The lines of one kind of balancing, whose counters begin at index `at`; returns the index after them. */
static unsigned balance_lines(struct schedstat_report_line *lines, size_t *count, uint16_t version, const char *kind, const char *heading,
	unsigned at)
{
	static const char *const names_15[BALANCE_COUNTERS_15] = { "count", "balanced", "failed", "imbalance", "gained", "hot_gained",
		"nobusyq", "nobusyg" };
	static const char *const names_17[BALANCE_COUNTERS_17] = { "count", "balanced", "failed", "imbalance_load", "imbalance_util",
		"imbalance_task", "imbalance_misfit", "gained", "hot_gained", "nobusyq", "nobusyg" };
	unsigned counters = version >= 17 ? BALANCE_COUNTERS_17 : BALANCE_COUNTERS_15;
	struct schedstat_report_line *line;
	for (unsigned i = 0; i < counters; i++) {
		line = add_line(lines, count, i ? NULL : heading);
		snprintf(line->name, sizeof line->name, "%s_lb_%s", kind, (version >= 17 ? names_17 : names_15)[i]);
		line->index = at + i;
		line->interval = i <= BALANCE_FAILED || i >= counters - 2;
	}
	line = add_line(lines, count, NULL);
	snprintf(line->name, sizeof line->name, "%s_lb_success_count", kind);
	line->kind = SCHEDSTAT_SUCCESS;
	line->index = at;
	line = add_line(lines, count, NULL);
	snprintf(line->name, sizeof line->name, "%s_lb_avg_pulled", kind);
	line->kind = SCHEDSTAT_PULLED;
	line->index = at;
	return at + counters;
}

size_t schedstat_report_lines(uint16_t version, bool domain, struct schedstat_report_line lines[static SCHEDSTAT_LINES_MAX])
{
	/* Version 16 exchanged the first two kinds. */
	static const char *const kinds_15[] = { "idle", "busy", "newidle" }, *const kinds_16[] = { "busy", "idle", "newidle" };
	static const char *const headings_15[] = { "<Category idle>", "<Category busy>", "<Category newidle>" };
	static const char *const headings_16[] = { "<Category busy>", "<Category idle>", "<Category newidle>" };
	static const struct {
		const char *heading, *name;
	} rest[] = {
		{ "<Category active_load_balance()>", "alb_count" }, { NULL, "alb_failed" }, { NULL, "alb_pushed" },
		{ "<Category sched_balance_exec()>", "sbe_count" }, { NULL, "sbe_balanced" }, { NULL, "sbe_pushed" },
		{ "<Category sched_balance_fork()>", "sbf_count" }, { NULL, "sbf_balanced" }, { NULL, "sbf_pushed" },
		{ "<Wakeup Info>", "ttwu_wake_remote" }, { NULL, "ttwu_move_affine" }, { NULL, "ttwu_move_balance" },
	};
	size_t count = 0;
	unsigned at = 0;
	if (!domain)
		return cpu_lines(lines);
	for (int i = 0; i < 3; i++)
		at = balance_lines(lines, &count, version, (version == 15 ? kinds_15 : kinds_16)[i],
			(version == 15 ? headings_15 : headings_16)[i], at);
	for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) {
		struct schedstat_report_line *line = add_line(lines, &count, rest[i].heading);
		snprintf(line->name, sizeof line->name, "%s", rest[i].name);
		line->index = at++;
	}
	return count;
}

double schedstat_value(const struct schedstat_row *row, const struct schedstat_report_line *line)
{
	const uint64_t *values = row->values + line->index;
	if (line->kind == SCHEDSTAT_COUNTER)
		return (double)values[0];
	double success = (double)values[BALANCE_COUNT] - (double)values[BALANCE_BALANCED] - (double)values[BALANCE_FAILED];
	unsigned gained = (row->version >= 17 ? BALANCE_COUNTERS_17 : BALANCE_COUNTERS_15) - 4;
	if (success < 0)
		success = 0;
	if (line->kind == SCHEDSTAT_SUCCESS)
		return success;
	return success > 0 ? (double)values[gained] / success : 0;
}

const struct feature_domain *schedstats_domain(const struct schedstats *stats, const struct schedstat_row *row)
{
	for (uint32_t i = 0; i < stats->domains.count; i++) {
		const struct feature_domain *domain = &stats->domains.domains[i];
		if (domain->domain == (uint32_t)row->domain && (domain->cpu == row->cpu || row->cpu == SCHEDSTATS_ALL))
			return domain;
	}
	return NULL;
}

const struct schedstat_row *schedstats_average(const struct schedstats *stats, int32_t domain)
{
	for (size_t i = 0; i < stats->rows.count && stats->rows.items[i].cpu == SCHEDSTATS_ALL; i++)
		if (stats->rows.items[i].domain == domain)
			return &stats->rows.items[i];
	return NULL;
}
