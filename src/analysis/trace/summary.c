#include "analysis/trace/summary.h"

#include <stdlib.h>
#include <string.h>

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
	size_t low = SEARCH_COUNT(summary->rows.count, i, summary->rows.items[i]->tid < thread->id);
	thread->first = low;
	for (; low < summary->rows.count && summary->rows.items[low]->tid == thread->id; low++)
		thread->count++;
}

/* The row of a task: its own, or that of the tasks to which it is added. */
static struct summary_thread *row_of(struct trace_summary *summary, const struct trace_task *task, struct idmap *by_key)
{
	bool added = true;
	uint64_t key = summary->mode == SUMMARY_BY_CGROUP ? task->cgroup : 0;
	uint32_t index = summary->mode == SUMMARY_BY_THREAD ? (uint32_t)summary->threads.count :
		idmap_add(by_key, key, (uint32_t)summary->threads.count, &added);
	if (added)
		vec_push(&summary->threads, ((struct summary_thread){ .task = task,
			.id = summary->mode == SUMMARY_BY_THREAD ? task->tid : (int32_t)index }));
	return &summary->threads.items[index];
}

static void take_tasks(struct trace_summary *summary, const struct trace_tasks *tasks, struct idmap *by_key, struct idmap *id_of)
{
	for (size_t i = 0; i < tasks->list.count; i++) {
		const struct trace_task *task = tasks->list.items[i];
		if (!task->events)
			continue;
		struct summary_thread *row = row_of(summary, task, by_key);
		row->events += task->events;
		row->major_faults += task->major_faults;
		row->minor_faults += task->minor_faults;
		row->runtime_ns += task->runtime_ns;
		summary->events += task->events;
		idmap_set(id_of, (uint32_t)task->tid, (uint32_t)row->id);
	}
}

/* Adds the calls of the threads of each row. */
static void merge_sums(struct trace_summary *summary, const struct idmap *id_of)
{
	const struct call_sums *sums = summary->sums;
	for (size_t i = 0; i < sums->list.count; i++) {
		uint32_t id = idmap_get(id_of, (uint32_t)sums->list.items[i].tid);
		if (id != IDMAP_NONE)
			call_sums_merge(&summary->merged, (int32_t)id, &sums->list.items[i]);
	}
	for (size_t i = 0; i < sums->errors.count; i++) {
		const struct error_sum *error = &sums->errors.items[i];
		uint32_t id = idmap_get(id_of, (uint32_t)error->tid);
		if (id != IDMAP_NONE)
			call_sums_add_error(&summary->merged, (int32_t)id, error->number, error->error, error->count);
	}
	summary->sums = &summary->merged;
}

void trace_summary_init(struct trace_summary *summary, const struct trace_tasks *tasks, const struct call_sums *sums, uint64_t total)
{
	struct idmap by_key = { 0 }, id_of = { 0 };
	summary->sums = sums;
	take_tasks(summary, tasks, &by_key, &id_of);
	if (summary->mode != SUMMARY_BY_THREAD)
		merge_sums(summary, &id_of);
	idmap_fini(&by_key);
	idmap_fini(&id_of);
	for (size_t i = 0; i < summary->sums->list.count; i++)
		if (summary->sums->list.items[i].calls)
			vec_push(&summary->rows, &summary->sums->list.items[i]);
	if (summary->rows.count)
		qsort(summary->rows.items, summary->rows.count, sizeof *summary->rows.items, compare_rows);
	for (size_t i = 0; i < summary->threads.count; i++)
		take_rows(summary, &summary->threads.items[i]);
	if (total)
		summary->events = total;
	if (summary->threads.count)
		qsort(summary->threads.items, summary->threads.count, sizeof *summary->threads.items, compare_threads);
}

void trace_summary_fini(struct trace_summary *summary)
{
	vec_fini(&summary->threads);
	vec_fini(&summary->rows);
	call_sums_fini(&summary->merged);
}

enum { COLUMN_TASK, COLUMN_CALL, COLUMN_CALLS, COLUMN_ERRORS, COLUMN_TOTAL, COLUMN_MIN, COLUMN_MEAN, COLUMN_MAX, COLUMN_DEVIATION,
	COLUMN_COUNT };
_Static_assert((int)COLUMN_COUNT == (int)SUMMARY_COLUMNS);

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

static const struct trace_task *task_of(const struct trace_summary *summary, int32_t id)
{
	for (size_t i = 0; i < summary->threads.count; i++)
		if (summary->threads.items[i].id == id)
			return summary->threads.items[i].task;
	return NULL;
}

/* The first column: a thread, a cgroup, or nothing but all. */
static struct cell owner_cell(const struct trace_summary *summary, int32_t id, struct str *scratch)
{
	const struct trace_task *task = task_of(summary, id);
	const char *name = summary->mode == SUMMARY_BY_CGROUP && task ? summary->cgroup_name(summary->context, task->cgroup) : NULL;
	if (summary->mode == SUMMARY_BY_THREAD)
		return (struct cell){ .kind = CELL_TASK, .task = { id, task ? task->comm : "" } };
	if (summary->mode == SUMMARY_IN_TOTAL || name)
		return cell_text(name ? name : "total");
	str_clear(scratch);
	str_printf(scratch, "%llu", (unsigned long long)(task ? task->cgroup : 0));
	return cell_text(str_text(scratch));
}

static struct cell cell_at(void *context, uint64_t row, size_t column, struct str *scratch)
{
	const struct trace_summary *summary = context;
	const struct call_sum *sum = summary->rows.items[row - 1];
	switch (column) {
	case COLUMN_TASK:
		return owner_cell(summary, sum->tid, scratch);
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
	memcpy(results->columns, columns, sizeof columns);
	if (summary->mode == SUMMARY_BY_CGROUP)
		results->columns[COLUMN_TASK] = (struct table_column){ "cgroup", "Cgroup", NULL, CELL_TEXT };
	else if (summary->mode == SUMMARY_IN_TOTAL)
		results->columns[COLUMN_TASK] = (struct table_column){ "scope", "Scope", NULL, CELL_TEXT };
	results->table = (struct table){ .name = "calls", .columns = results->columns, .column_count = COLUMN_COUNT, .context = (void *)summary,
		.row_count = row_count, .row = table_row_in_order, .cell = cell_at };
	results->results = (struct results){ .schema = "perfuse.trace", .version = 1, .tables = &results->table, .table_count = 1 };
}
