#include "analysis/sched/schedstats.h"

#include "unit.h"

static struct schedstat_row row_at(uint64_t time, uint32_t cpu, int32_t domain, uint16_t version, uint64_t base)
{
	struct schedstat_row row = { .timestamp = time, .cpu = cpu, .domain = domain, .version = version };
	for (unsigned i = 0; i < schedstat_values(version, domain != SCHEDSTAT_NO_DOMAIN); i++)
		row.values[i] = base * (i + 1);
	return row;
}

static void add(struct schedstats *stats, uint64_t time, uint32_t cpu, int32_t domain, uint16_t version, uint64_t base)
{
	struct schedstat_row row = row_at(time, cpu, domain, version, base);
	schedstats_add(stats, &row);
}

TEST("rows are what was counted between two moments: averages of CPUs first, then each CPU before its domains")
{
	struct schedstats stats = { 0 };
	for (int moment = 0; moment < 2; moment++)
		for (uint32_t cpu = 2; cpu-- > 0;) {
			add(&stats, 100 + (uint64_t)moment * 50, cpu, 0, 17, moment ? 11 + cpu * 10 : 1);
			add(&stats, 100 + (uint64_t)moment * 50, cpu, SCHEDSTAT_NO_DOMAIN, 17, moment ? 5 + cpu * 2 : 1);
		}
	EXPECT_INT(schedstats_finish(&stats, NULL), 0);
	EXPECT_INT(stats.jiffies, 50);
	EXPECT_INT(stats.rows.count, 6);
	static const struct {
		uint32_t cpu;
		int32_t domain;
		uint64_t second; /* value of index 1 */
	} rows[] = { { SCHEDSTATS_ALL, -1, 10 }, { SCHEDSTATS_ALL, 0, 30 }, { 0, -1, 8 }, { 0, 0, 20 }, { 1, -1, 12 }, { 1, 0, 40 } };
	for (size_t i = 0; i < 6 && i < stats.rows.count; i++) {
		EXPECT_INT(stats.rows.items[i].cpu, rows[i].cpu);
		EXPECT_INT(stats.rows.items[i].domain, rows[i].domain);
		EXPECT_INT(stats.rows.items[i].values[1], rows[i].second);
	}
	EXPECT(schedstats_average(&stats, 0) == &stats.rows.items[1]);
	EXPECT(!schedstats_average(&stats, 1));
	schedstats_fini(&stats);
}

TEST("a counter of 32 bits that wraps is not negative, one of 64 bits has all its bits")
{
	struct schedstats stats = { 0 };
	struct schedstat_row first = row_at(1, 0, SCHEDSTAT_NO_DOMAIN, 15, 0), last = row_at(2, 0, SCHEDSTAT_NO_DOMAIN, 15, 0);
	first.values[5] = 0xfffffff0u;
	last.values[5] = 0x10;
	first.values[6] = 1;
	last.values[6] = 0x100000001ULL;
	schedstats_add(&stats, &first);
	schedstats_add(&stats, &last);
	EXPECT_INT(schedstats_finish(&stats, NULL), 0);
	EXPECT_INT(stats.rows.items[1].values[5], 0x20);
	EXPECT(stats.rows.items[1].values[6] == 0x100000000ULL);
	schedstats_fini(&stats);
}

TEST("counters of one moment alone, or of two versions, are refused")
{
	struct schedstats stats = { 0 };
	struct error err = { 0 };
	add(&stats, 1, 0, SCHEDSTAT_NO_DOMAIN, 15, 1);
	EXPECT(schedstats_finish(&stats, &err) < 0);
	EXPECT(strstr(err.text, "two moments"));
	add(&stats, 2, 0, SCHEDSTAT_NO_DOMAIN, 17, 1);
	EXPECT(schedstats_finish(&stats, &err) < 0);
	EXPECT(strstr(err.text, "versions 15 and 17"));
	schedstats_fini(&stats);
}

static unsigned index_of(uint16_t version, const char *name)
{
	struct schedstat_report_line lines[SCHEDSTAT_LINES_MAX];
	size_t count = schedstat_report_lines(version, true, lines);
	for (size_t i = 0; i < count; i++)
		if (strcmp(lines[i].name, name) == 0)
			return lines[i].index;
	return 1000;
}

TEST("the lines of a version name each counter once, in the order of its kernel")
{
	struct schedstat_report_line lines[SCHEDSTAT_LINES_MAX];
	for (uint16_t version = 15; version <= 17; version++) {
		bool seen[SCHEDSTAT_VALUES_MAX] = { 0 };
		size_t count = schedstat_report_lines(version, true, lines), counters = 0;
		for (size_t i = 0; i < count; i++) {
			if (lines[i].kind != SCHEDSTAT_COUNTER)
				continue;
			EXPECT(!seen[lines[i].index]);
			seen[lines[i].index] = true;
			counters++;
		}
		EXPECT_INT(counters, schedstat_values(version, true));
		EXPECT_INT(count, counters + 6);
	}
	EXPECT_INT(schedstat_report_lines(17, false, lines), SCHEDSTAT_CPU_VALUES);
	EXPECT_INT(index_of(15, "idle_lb_count"), 0);
	EXPECT_INT(index_of(15, "busy_lb_imbalance"), 11);
	EXPECT_INT(index_of(16, "busy_lb_count"), 0);
	EXPECT_INT(index_of(16, "newidle_lb_gained"), 20);
	EXPECT_INT(index_of(17, "idle_lb_imbalance_misfit"), 17);
	EXPECT_INT(index_of(17, "ttwu_move_balance"), 44);
	EXPECT_INT(index_of(15, "ttwu_move_balance"), 35);
}

TEST("successful balancing is what neither failed nor was balanced, and pulls the tasks that it gained")
{
	for (uint16_t version = 16; version <= 17; version++) {
		struct schedstat_row row = { .version = version, .domain = 0 };
		struct schedstat_report_line lines[SCHEDSTAT_LINES_MAX];
		size_t count = schedstat_report_lines(version, true, lines);
		row.values[index_of(version, "idle_lb_count")] = 20;
		row.values[index_of(version, "idle_lb_balanced")] = 12;
		row.values[index_of(version, "idle_lb_failed")] = 3;
		row.values[index_of(version, "idle_lb_gained")] = 8;
		for (size_t i = 0; i < count; i++) {
			if (strcmp(lines[i].name, "idle_lb_success_count") == 0)
				EXPECT(schedstat_value(&row, &lines[i]) == 5);
			if (strcmp(lines[i].name, "idle_lb_avg_pulled") == 0)
				EXPECT(schedstat_value(&row, &lines[i]) == 1.6);
			if (strcmp(lines[i].name, "busy_lb_avg_pulled") == 0)
				EXPECT(schedstat_value(&row, &lines[i]) == 0);
		}
	}
}
