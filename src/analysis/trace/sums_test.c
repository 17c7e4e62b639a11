#include "analysis/trace/summary.h"

#include <string.h>

#include "unit.h"

TEST("calls are added up by thread and number, errors by their kind")
{
	struct call_sums sums = { 0 };
	call_sums_add(&sums, 5, 1, 100, 3);
	call_sums_add(&sums, 5, 1, 300, -2);
	call_sums_add(&sums, 5, 2, 7, 0);
	call_sums_add(&sums, 6, 1, 1, -2);
	EXPECT_INT(sums.list.count, 3);
	const struct call_sum *sum = call_sums_get(&sums, 5, 1);
	EXPECT_INT(sum->calls, 2);
	EXPECT_INT(sum->errors, 1);
	EXPECT_INT(sum->total_ns, 400);
	EXPECT_INT(sum->min_ns, 100);
	EXPECT_INT(sum->max_ns, 300);
	EXPECT_INT(sums.errors.count, 2);
	/* standard deviation 141.42, of the mean 100: half of the mean of 200 */
	EXPECT(call_sum_deviation(sum) > 0.4999 && call_sum_deviation(sum) < 0.5001);
	EXPECT(call_sum_deviation(call_sums_get(&sums, 5, 2)) == 0);
	call_sums_fini(&sums);
}

static const char *name_of(void *context, uint32_t number)
{
	return number == 1 ? "one" : "two";
}

TEST("a summary has threads by events and calls by time, as cells too")
{
	struct call_sums sums = { 0 };
	struct trace_tasks tasks = { 0 };
	struct trace_summary summary;
	struct trace_results results;
	trace_tasks_get(&tasks, 9, 0)->events = 4;
	trace_tasks_get(&tasks, 8, 0)->events = 4;
	trace_tasks_get(&tasks, 7, 0)->events = 2;
	trace_tasks_get(&tasks, 6, 0);
	call_sums_add(&sums, 9, 1, 10, 0);
	call_sums_add(&sums, 9, 2, 20, 0);
	trace_summary_init(&summary, &tasks, &sums, 0, name_of, NULL);
	EXPECT_INT(summary.threads.count, 3);
	EXPECT_INT(summary.events, 10);
	EXPECT_INT(summary.threads.items[0].task->tid, 7);
	EXPECT_INT(summary.threads.items[1].task->tid, 8);
	EXPECT_INT(summary.threads.items[2].count, 2);
	EXPECT_INT(summary.rows.items[summary.threads.items[2].first]->number, 2);
	trace_results_init(&results, &summary);
	struct table *table = &results.table;
	EXPECT_INT(table->row_count(table->context, TABLE_TOP), 2);
	EXPECT_STR(table->cell(table->context, table->row(table->context, TABLE_TOP, 0), 1, NULL).text, "two");
	EXPECT_INT(table->cell(table->context, 1, 4, NULL).count, 20);
	trace_summary_fini(&summary);
	call_sums_fini(&sums);
	trace_tasks_fini(&tasks);
}
