#include "analysis/stat/stat_table.h"

#include <string.h>

#include "unit.h"

static const struct stat_place two_places[] = { { 0, 0 }, { 0, 1 }, { 1, 0 }, { 1, 1 } };

static bool near(double a, double b)
{
	return a - b < 1e-6 && b - a < 1e-6;
}

static void parse(struct events *events, const char *text)
{
	EXPECT(events_parse(events, text, NULL) == 0);
}

TEST("a count that ran half of the time is doubled")
{
	struct events events = { 0 };
	struct stat_table table = { 0 };
	const bool unsupported[2] = { false, true };
	const struct stat_count counts[] = { { 21, 100, 50, false }, { 5, 100, 100, false }, { 0 }, { .absent = true } };
	parse(&events, "page-faults,minor-faults");
	stat_table_fill(&table, &events, unsupported, 2, two_places, counts, 4, true);
	EXPECT_INT(table.rows.count, 4);
	EXPECT(near(table.rows.items[0].value, 42));
	EXPECT(near(table.rows.items[1].value, 5));
	EXPECT_INT(table.rows.items[1].counters, 1);
	EXPECT_INT(table.rows.items[3].counters, 0);
	EXPECT(table.rows.items[0].state == STAT_COUNTED && table.rows.items[2].state == STAT_NOT_SUPPORTED);
	stat_table_fini(&table);
	table = (struct stat_table){ 0 };
	stat_table_fill(&table, &events, unsupported, 2, two_places, counts, 4, false);
	EXPECT(near(table.rows.items[0].value, 21));
	stat_table_fini(&table);
	events_fini(&events);
}

TEST("an aggregate of which one counter never ran is not counted if that is asked for")
{
	struct events events = { 0 };
	struct stat_table table = { .strict = true };
	const bool unsupported[1] = { false };
	const struct stat_place places[] = { { 0, 0 }, { 0, 0 }, { 0, 1 }, { 0, 1 } };
	const struct stat_count counts[] = { { 7, 10, 10, false }, { 0, 10, 0, false }, { 7, 10, 10, false }, { 9, 10, 10, true } };
	parse(&events, "page-faults");
	stat_table_fill(&table, &events, unsupported, 2, places, counts, 4, true);
	EXPECT(table.rows.items[0].state == STAT_NOT_COUNTED && table.rows.items[0].counters == 2);
	EXPECT(table.rows.items[1].state == STAT_COUNTED && table.rows.items[1].counters == 1 && near(table.rows.items[1].value, 7));
	stat_table_fini(&table);
	table = (struct stat_table){ 0 };
	stat_table_fill(&table, &events, unsupported, 2, places, counts, 4, true);
	EXPECT(table.rows.items[0].state == STAT_COUNTED && near(table.rows.items[0].value, 7));
	stat_table_fini(&table);
	events_fini(&events);
}

TEST("runs have a mean and its standard error")
{
	struct stat_spread spread = { 0 };
	stat_spread_add(&spread, 2);
	EXPECT(near(stat_spread_error(&spread), 0));
	stat_spread_add(&spread, 4);
	stat_spread_add(&spread, 9);
	EXPECT(near(spread.mean, 5));
	/* variance 13, of the mean 13 / 3 */
	EXPECT(near(stat_spread_error(&spread) * stat_spread_error(&spread), 13.0 / 3));
	EXPECT(stat_spread_percent(&spread) > 41.63 && stat_spread_percent(&spread) < 41.64);
}

TEST("a table that is filled for each run has the mean of the runs and its noise")
{
	struct events events = { 0 };
	struct stat_table table = { 0 };
	const bool unsupported[1] = { false };
	const struct stat_place places[] = { { 0, 0 } };
	parse(&events, "page-faults");
	for (unsigned run = 0; run < 3; run++) {
		const struct stat_count count = { (const uint64_t[]){ 2, 4, 9 }[run], 10, 10, false };
		stat_table_fill(&table, &events, unsupported, 1, places, &count, 1, true);
	}
	EXPECT(near(table.rows.items[0].value, 5));
	EXPECT(table.rows.items[0].noise_percent > 41.63 && table.rows.items[0].noise_percent < 41.64);
	stat_table_fini(&table);
	events_fini(&events);
}

TEST("counts of an event that is merged are in the rows of the other one")
{
	struct events events = { 0 };
	const uint32_t merged[3] = { 0, 0, 2 };
	struct stat_table table = { .merged = merged };
	const bool unsupported[3] = { false, false, false };
	const struct stat_place places[] = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 2, 1 } };
	const struct stat_count counts[] = { { 7, 9, 9, false }, { 20, 9, 9, false }, { 300, 9, 9, false }, { 1, 9, 9, false } };
	parse(&events, "page-faults,minor-faults,major-faults");
	stat_table_fill(&table, &events, unsupported, 2, places, counts, 4, true);
	EXPECT(near(table.rows.items[0].value, 27) && table.rows.items[0].counters == 1);
	EXPECT(near(table.rows.items[1].value, 300) && table.rows.items[1].counters == 0);
	EXPECT(near(table.rows.items[2].value, 0) && near(table.rows.items[5].value, 1));
	stat_table_fini(&table);
	events_fini(&events);
}

TEST("an event with the term percore has the sum of its core on each of its CPUs")
{
	struct events events = { 0 };
	struct stat_table table = { .strict = true };
	const bool unsupported[2] = { false, false };
	const uint32_t cores[4] = { 0, 1, 0, 1 };
	struct stat_place places[8];
	struct stat_count counts[8];
	for (uint32_t i = 0; i < 8; i++) {
		places[i] = (struct stat_place){ i / 4, i % 4 };
		counts[i] = (struct stat_count){ 1u << i, 10, i == 1 ? 0 : 10, false };
	}
	parse(&events, "page-faults,minor-faults");
	events.list.items[0].terms.set |= EVENT_TERM_PERCORE;
	events.list.items[0].terms.percore = true;
	stat_table_fill(&table, &events, unsupported, 4, places, counts, 8, true);
	stat_table_percore(&table, cores);
	const struct stat_row *rows = table.rows.items;
	EXPECT(near(rows[0].value, 5) && near(rows[2].value, 5) && rows[0].running == 20);
	EXPECT(near(rows[1].value, 8) && near(rows[3].value, 8) && rows[1].state == STAT_COUNTED);
	EXPECT(near(rows[4].value, 16) && near(rows[5].value, 32) && near(rows[7].value, 128));
	stat_table_fini(&table);
	events_fini(&events);
}

TEST("medians of runs are not moved by an outlier")
{
	struct events events = { 0 };
	struct stat_table table = { .keeps = true };
	const bool unsupported[2] = { false, false };
	const struct stat_place places[2] = { { 0, 0 }, { 1, 0 } };
	parse(&events, "page-faults,minor-faults");
	for (uint64_t run = 0; run < 5; run++) {
		const struct stat_count counts[2] = { { run == 4 ? 100000 : 10 + run, 9, 9, false }, { 7, 9, 9, false } };
		stat_table_fill(&table, &events, unsupported, 1, places, counts, 2, true);
	}
	stat_table_robust(&table);
	const struct stat_row *row = &table.rows.items[0];
	EXPECT(near(row->value, 12) && near(row->robust.mad, 1));
	EXPECT(row->robust.low >= 10 && row->robust.low <= 12 && row->robust.high >= 12 && row->robust.high <= 100000);
	row = &table.rows.items[1];
	EXPECT(near(row->value, 7) && near(row->robust.mad, 0) && near(row->robust.low, 7) && near(row->robust.high, 7));
	stat_table_fini(&table);
	events_fini(&events);
}

TEST("an event that never ran is not zero")
{
	struct events events = { 0 };
	struct stat_table table = { 0 };
	const bool unsupported[1] = { false };
	const struct stat_place place = { 0, 0 };
	parse(&events, "page-faults");
	stat_table_fill(&table, &events, unsupported, 1, &place, &(struct stat_count){ 0, 100, 0 }, 1, true);
	EXPECT(table.rows.items[0].state == STAT_NOT_COUNTED);
	stat_table_fini(&table);
	events_fini(&events);
}

TEST("cycles without a clock have the unit of their metric, and no value")
{
	struct events events = { 0 };
	struct stat_table table = { 0 };
	const bool unsupported[1] = { false };
	const struct stat_place place = { 0, 0 };
	parse(&events, "cycles");
	stat_table_fill(&table, &events, unsupported, 1, &place, &(struct stat_count){ 2000, 100, 100 }, 1, true);
	stat_table_metrics(&table, 4e6);
	EXPECT(!table.rows.items[0].metric.known);
	EXPECT_STR(table.rows.items[0].metric.unit, "GHz");
	stat_table_fini(&table);
	events_fini(&events);
}

TEST("no metric relates a count to a mean latency")
{
	struct events events = { 0 };
	struct stat_table table = { 0 };
	const bool unsupported[3] = { false };
	const struct stat_place places[] = { { 0, 0 }, { 1, 0 }, { 2, 0 } };
	const struct stat_count counts[] = { { 7, 1, 1 }, { 5, 1, 1 }, { 4000, 9, 9 } };
	parse(&events, "cycles:R,task-clock:R,instructions");
	stat_table_fill(&table, &events, unsupported, 1, places, counts, 3, true);
	stat_table_metrics(&table, 4e6);
	EXPECT(!table.rows.items[2].metric.known);
	stat_table_fini(&table);
	events_fini(&events);
}

TEST("metrics relate events of one aggregate")
{
	struct events events = { 0 };
	struct stat_table table = { 0 };
	const bool unsupported[6] = { false };
	struct stat_place places[6];
	const struct stat_count counts[] = {
		{ 2000000, 9, 9 }, { 3000, 9, 9 }, { 4000000, 9, 9 }, { 6000000, 9, 9 }, { 1000, 9, 9 }, { 25, 9, 9 },
	};
	for (uint32_t i = 0; i < 6; i++)
		places[i] = (struct stat_place){ i, 0 };
	parse(&events, "task-clock,page-faults,cycles,instructions,branches,branch-misses");
	if (events.list.count == 6) {
		stat_table_fill(&table, &events, unsupported, 1, places, counts, 6, true);
		stat_table_metrics(&table, 4e6);
		const struct stat_row *rows = table.rows.items;
		EXPECT(near(rows[0].metric.value, 0.5));
		EXPECT(near(rows[1].metric.value, 1.5));
		EXPECT_STR(rows[1].metric.unit, "M/sec");
		EXPECT(near(rows[2].metric.value, 2));
		EXPECT_STR(rows[2].metric.unit, "GHz");
		EXPECT(near(rows[3].metric.value, 1.5));
		EXPECT_STR(rows[3].metric.unit, "insn per cycle");
		EXPECT(near(rows[5].metric.value, 2.5) && rows[5].metric.percent);
	}
	stat_table_fini(&table);
	events_fini(&events);
}
