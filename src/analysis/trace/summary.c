#include "analysis/trace/summary.h"

#include <stdlib.h>

#include "base/search.h"

static int compare_threads(const void *a, const void *b)
{
	const struct summary_thread *x = a, *y = b;
	if (x->events != y->events)
		return x->events < y->events ? -1 : 1;
	return (x->task->tid > y->task->tid) - (x->task->tid < y->task->tid);
}

static int compare_rows(const void *a, const void *b)
{
	const struct call_sum *x = *(const struct call_sum *const *)a, *y = *(const struct call_sum *const *)b;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* Rows are sorted by thread. */
static void take_rows(const struct trace_summary *summary, struct summary_thread *thread)
{
	size_t low = SEARCH_COUNT(summary->rows.count, i, summary->rows.items[i]->tid < thread->task->tid);
	thread->first = low;
	for (; low < summary->rows.count && summary->rows.items[low]->tid == thread->task->tid; low++)
		thread->count++;
}

void trace_summary_init(struct trace_summary *summary, const struct trace_tasks *tasks, const struct call_sums *sums, uint64_t total,
	call_namer *name, void *context)
{
	*summary = (struct trace_summary){ .sums = sums, .name = name, .context = context };
	for (size_t i = 0; i < sums->list.count; i++)
		if (sums->list.items[i].calls)
			vec_push(&summary->rows, &sums->list.items[i]);
	if (summary->rows.count)
		qsort(summary->rows.items, summary->rows.count, sizeof *summary->rows.items, compare_rows);
	for (size_t i = 0; i < tasks->list.count; i++) {
		struct summary_thread thread = { .task = tasks->list.items[i], .events = tasks->list.items[i]->events };
		if (!thread.events)
			continue;
		take_rows(summary, &thread);
		summary->events += thread.events;
		vec_push(&summary->threads, thread);
	}
	if (total)
		summary->events = total;
	if (summary->threads.count)
		qsort(summary->threads.items, summary->threads.count, sizeof *summary->threads.items, compare_threads);
}

void trace_summary_fini(struct trace_summary *summary)
{
	vec_fini(&summary->threads);
	vec_fini(&summary->rows);
}

enum { COLUMN_TASK, COLUMN_CALL, COLUMN_CALLS, COLUMN_ERRORS, COLUMN_TOTAL, COLUMN_MIN, COLUMN_MEAN, COLUMN_MAX, COLUMN_DEVIATION,
	COLUMN_COUNT };

static const struct table_column columns[COLUMN_COUNT] = {
	{ "task", "Task", NULL, CELL_TASK },       { "call", "System call", NULL, CELL_TEXT }, { "calls", "Calls", NULL, CELL_COUNT },
	{ "errors", "Errors", NULL, CELL_COUNT },  { "total", "Total", "ns", CELL_TIME },      { "min", "Min", "ns", CELL_TIME },
	{ "mean", "Mean", "ns", CELL_TIME },       { "max", "Max", "ns", CELL_TIME },          { "deviation", "Deviation", NULL, CELL_REAL },
};

static size_t row_count(void *context, uint64_t parent)
{
	const struct trace_summary *summary = context;
	return parent == TABLE_TOP ? summary->rows.count : 0;
}

static const struct trace_task *task_of(const struct trace_summary *summary, int32_t tid)
{
	for (size_t i = 0; i < summary->threads.count; i++)
		if (summary->threads.items[i].task->tid == tid)
			return summary->threads.items[i].task;
	return NULL;
}

static struct cell cell_at(void *context, uint64_t row, size_t column, struct str *scratch)
{
	const struct trace_summary *summary = context;
	const struct call_sum *sum = summary->rows.items[row - 1];
	const struct trace_task *task;
	switch (column) {
	case COLUMN_TASK:
		task = task_of(summary, sum->tid);
		return (struct cell){ .kind = CELL_TASK, .task = { sum->tid, task ? task->comm : "" } };
	case COLUMN_CALL:
		return cell_text(summary->name(summary->context, sum->number));
	case COLUMN_CALLS:
		return cell_count(sum->calls);
	case COLUMN_ERRORS:
		return cell_count(sum->errors);
	case COLUMN_TOTAL:
		return cell_time(sum->total_ns);
	case COLUMN_MIN:
		return cell_time(sum->min_ns);
	case COLUMN_MEAN:
		return cell_time(sum->total_ns / sum->calls);
	case COLUMN_MAX:
		return cell_time(sum->max_ns);
	}
	return (struct cell){ .kind = CELL_REAL, .real = call_sum_deviation(sum) };
}

void trace_results_init(struct trace_results *results, const struct trace_summary *summary)
{
	results->table = (struct table){ .name = "calls", .columns = columns, .column_count = COLUMN_COUNT, .context = (void *)summary,
		.row_count = row_count, .row = table_row_in_order, .cell = cell_at };
	results->results = (struct results){ .schema = "perfuse.trace", .version = 1, .tables = &results->table, .table_count = 1 };
}
