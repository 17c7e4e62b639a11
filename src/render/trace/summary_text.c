#include "render/trace/summary_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS(ns) ((double)(ns) / 1e6)

static int compare_errors(const void *a, const void *b)
{
	return (*(const struct error_sum *const *)a)->error - (*(const struct error_sum *const *)b)->error;
}

static void print_errors(const struct call_sums *sums, const struct call_sum *of, struct writer *out)
{
	VEC(const struct error_sum *) list = { 0 };
	for (size_t i = 0; i < sums->errors.count; i++)
		if (sums->errors.items[i].tid == of->tid && sums->errors.items[i].number == of->number)
			vec_push(&list, &sums->errors.items[i]);
	if (list.count)
		qsort(list.items, list.count, sizeof *list.items, compare_errors);
	for (size_t i = 0; i < list.count; i++) {
		size_t length = 0;
		const char *name = error_name(list.items[i]->error, &length);
		writer_printf(out, "\t\t\t\t%.*s: %llu\n", name ? (int)length : 3, name ? name : "???", (unsigned long long)list.items[i]->count);
	}
	vec_fini(&list);
}

static void print_calls(const struct trace_summary *summary, const struct summary_thread *thread,
	const struct summary_text_options *options, struct writer *out)
{
	writer_puts(out, "\n"
		"   syscall            calls  errors  total       min       avg       max       stddev\n"
		"                                     (msec)    (msec)    (msec)    (msec)        (%)\n"
		"   --------------- --------  ------ -------- --------- --------- ---------     ------\n");
	for (size_t i = 0; i < thread->count && (!options->max_calls || i < options->max_calls); i++) {
		const struct call_sum *sum = summary->rows.items[thread->first + i];
		writer_printf(out, "   %-15s %8llu %6llu %9.3f %9.3f %9.3f %9.3f %9.2f%%\n", summary->name(summary->context, sum->number),
			(unsigned long long)sum->calls, (unsigned long long)sum->errors, MS(sum->total_ns), MS(sum->min_ns),
			MS(sum->total_ns) / (double)sum->calls, MS(sum->max_ns), 100 * call_sum_deviation(sum));
		if (options->errors && sum->errors)
			print_errors(summary->sums, sum, out);
	}
	writer_puts(out, "\n\n");
}

static void print_owner(const struct trace_summary *summary, const struct summary_thread *thread, struct writer *out)
{
	const struct trace_task *task = thread->task;
	unsigned long long events = summary->mode == SUMMARY_IN_TOTAL ? summary->events : thread->events;
	const char *cgroup = summary->mode == SUMMARY_BY_CGROUP ? summary->cgroup_name(summary->context, task->cgroup) : NULL;
	char unnamed[24];
	snprintf(unnamed, sizeof unnamed, ":%d", task->tid);
	if (summary->mode == SUMMARY_BY_THREAD)
		writer_printf(out, " %s (%d), %llu events, %.1f%%", *task->comm ? task->comm : unnamed, task->tid, events,
			100.0 * (double)events / (double)(summary->events ? summary->events : 1));
	else if (summary->mode == SUMMARY_IN_TOTAL)
		writer_printf(out, " total, %llu events", events);
	else if (cgroup)
		writer_printf(out, " cgroup %s, %llu events", cgroup, events);
	else
		writer_printf(out, " cgroup id:%llu, %llu events", (unsigned long long)task->cgroup, events);
	if (thread->major_faults)
		writer_printf(out, ", %llu majfaults", (unsigned long long)thread->major_faults);
	if (thread->minor_faults)
		writer_printf(out, ", %llu minfaults", (unsigned long long)thread->minor_faults);
	if (summary->scheduled)
		writer_printf(out, ", %.3f msec", MS(thread->runtime_ns));
	writer_putc(out, '\n');
}

void summary_text_print(const struct trace_summary *summary, const struct summary_text_options *options, struct writer *out)
{
	writer_puts(out, "\n Summary of events:\n\n");
	for (size_t i = 0; i < summary->threads.count; i++) {
		print_owner(summary, &summary->threads.items[i], out);
		print_calls(summary, &summary->threads.items[i], options, out);
	}
}
