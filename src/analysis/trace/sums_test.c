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
	struct trace_summary summary = { .name = name_of };
	struct trace_results results;
	trace_tasks_get(&tasks, 9, 0)->events = 4;
	trace_tasks_get(&tasks, 8, 0)->events = 4;
	trace_tasks_get(&tasks, 7, 0)->events = 2;
	trace_tasks_get(&tasks, 6, 0);
	call_sums_add(&sums, 9, 1, 10, 0);
	call_sums_add(&sums, 9, 2, 20, 0);
	trace_summary_init(&summary, &tasks, &sums, 0);
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

static const char *path_of(void *context, uint64_t id)
{
	return id == 70 ? "/a" : NULL;
}

static void add_task(struct trace_tasks *tasks, struct call_sums *sums, int32_t tid, uint64_t cgroup, uint64_t ns)
{
	struct trace_task *task = trace_tasks_get(tasks, tid, 0);
	task->cgroup = cgroup;
	task->events = 4;
	task->minor_faults = 1;
	call_sums_add(sums, tid, 1, ns, 0);
	call_sums_add(sums, tid, 2, 10 * ns, -2);
}

TEST("calls of threads are added up in total or by their cgroup, with errors and deviations as of one thread")
{
	static const enum summary_mode modes[] = { SUMMARY_IN_TOTAL, SUMMARY_BY_CGROUP };
	struct call_sums sums = { 0 }, expected = { 0 };
	struct trace_tasks tasks = { 0 };
	struct trace_results results;
	struct str scratch = { 0 };
	for (int32_t tid = 5; tid < 8; tid++)
		add_task(&tasks, &sums, tid, tid == 7 ? 71 : 70, (uint64_t)tid);
	for (size_t i = 0; i < 2; i++) {
		bool by_cgroup = modes[i] == SUMMARY_BY_CGROUP;
		struct trace_summary summary = { .mode = modes[i], .name = name_of, .cgroup_name = path_of };
		trace_summary_init(&summary, &tasks, &sums, 0);
		EXPECT_INT(summary.threads.count, by_cgroup ? 2 : 1);
		EXPECT_INT(summary.events, 12);
		const struct summary_thread *last = &summary.threads.items[summary.threads.count - 1]; /* the one with most events */
		EXPECT_INT(last->events, by_cgroup ? 8 : 12);
		EXPECT_INT(last->minor_faults, by_cgroup ? 2 : 3);
		const struct call_sum *first = summary.rows.items[last->first];
		EXPECT_INT(first->number, 2);
		EXPECT_INT(first->total_ns, by_cgroup ? 110 : 180);
		EXPECT_INT(first->min_ns, 50);
		EXPECT_INT(first->max_ns, by_cgroup ? 60 : 70);
		EXPECT_INT(first->errors, by_cgroup ? 2 : 3);
		EXPECT_INT(summary.sums->errors.items[0].count, by_cgroup ? 2 : 3);
		for (uint64_t ns = 50; ns <= first->max_ns; ns += 10)
			call_sums_add(&expected, (int32_t)i, 2, ns, -2);
		EXPECT(call_sum_deviation(first) == call_sum_deviation(call_sums_get(&expected, (int32_t)i, 2)));
		trace_results_init(&results, &summary);
		const struct table *table = &results.table;
		EXPECT_INT(table->row_count(table->context, TABLE_TOP), by_cgroup ? 4 : 2);
		EXPECT_STR(table->columns[0].name, by_cgroup ? "cgroup" : "scope");
		EXPECT_STR(table->cell(table->context, 1, 0, &scratch).text, by_cgroup ? "/a" : "total");
		if (by_cgroup)
			EXPECT_STR(table->cell(table->context, 4, 0, &scratch).text, "71");
		trace_summary_fini(&summary);
	}
	str_fini(&scratch);
	call_sums_fini(&expected);
	call_sums_fini(&sums);
	trace_tasks_fini(&tasks);
}
