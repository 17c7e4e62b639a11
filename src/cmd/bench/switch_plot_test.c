#include "cmd/bench/switch_plot.h"

#include <string.h>

#include "base/str.h"
#include "unit.h"

/* "cell cell, …" of each row of the table; bars by their length. */
static const char *rows_of(const struct table *table)
{
	static char text[512];
	CLEANUP_STR struct str scratch = { 0 };
	CLEANUP_STR struct str all = { 0 };
	for (size_t i = 0; i < table->row_count(table->context, TABLE_TOP); i++) {
		uint64_t row = table->row(table->context, TABLE_TOP, i);
		for (size_t k = 0; k < table->column_count; k++) {
			struct cell cell = table->cell(table->context, row, k, &scratch);
			unsigned long long value = cell.kind == CELL_TEXT ? strlen(cell.text) : cell.count;
			str_printf(&all, "%s%llu", k ? " " : i ? ", " : "", value);
		}
	}
	snprintf(text, sizeof text, "%s", str_text(&all));
	return text;
}

TEST("latencies are counted by powers of two, with bars relative to the largest of their run")
{
	struct switch_row rows[2] = { 0 };
	for (unsigned i = 0; i < 40; i++)
		latency_add(&rows[0].result.latency, 1000 + i % 2 * 100);
	for (unsigned i = 0; i < 10; i++)
		latency_add(&rows[0].result.latency, 5000);
	latency_add(&rows[1].result.latency, 3);
	latency_add(&rows[1].result.latency, 1ull << 62);
	struct switch_rows all = { .list = { .items = rows, .count = 2 } };
	struct latency_bars bars = { 0 };
	latency_bars_make(&bars, &all);
	struct table table = latency_bars_table(&bars, false);
	EXPECT_INT(table.column_count, 4);
	EXPECT_STR(rows_of(&table), "1 512 1024 20, 1 1024 2048 20, 1 4096 8192 10, 2 0 8 1, 2 4611686018427387904 9223372036854775808 1");
	table = latency_bars_table(&bars, true);
	EXPECT_INT(table.column_count, 5);
	EXPECT_STR(rows_of(&table), "1 512 1024 20 50, 1 1024 2048 20 50, 1 4096 8192 10 25, 2 0 8 1 50, "
		"2 4611686018427387904 9223372036854775808 1 50");
	vec_fini(&bars.list);
}

static uint64_t pairs_of(const struct turns_plan *plan)
{
	return plan->pairs;
}

TEST("a sweep has the rounded time of a turn for each value, and bars relative to the longest")
{
	struct switch_row rows[] = {
		{ .plan = { .pairs = 1 }, .result = { .turns = 10, .wall_ns = 1005 } },
		{ .plan = { .pairs = 2 }, .result = { .turns = 10, .wall_ns = 404 } },
		{ .plan = { .pairs = 3 } } };
	const struct switch_rows all = { .list = { .items = rows, .count = 3 } };
	struct switch_sweep sweep = { .rows = &all, .of = "pairs", .value = pairs_of };
	struct table table = sweep_table(&sweep);
	EXPECT_STR(table.columns[0].name, "pairs");
	EXPECT_STR(rows_of(&table), "1 101 50, 2 40 20, 3 0 0");
}
