/* The sums of timehist (-s, -S). */
#include <stdio.h>
#include <stdlib.h>

#include "render/sched/sched_text.h"
#include "render/sched/times.h"

static void add_name(struct timehist_style *style, uint32_t index, struct writer *out)
{
	const struct timehist_label *label = timehist_label(style, index);
	writer_pad(out, ' ', (size_t)(style->comm_width - label->len));
	writer_add(out, label->text, label->len);
}

static void print_task(struct timehist_style *style, uint32_t index, struct writer *out)
{
	const struct timehist_task *task = timehist_task(style->timehist, index);
	add_name(style, index, out);
	writer_printf(out, "   %5d  %9llu ", sched_task_parent(&style->timehist->reader, index), (unsigned long long)task->turns);
	times_add_milliseconds(out, task->run_ns, 8);
	const uint64_t times[2][4] = { { task->min_ns, (uint64_t)task->mean, task->max_ns },
		{ task->sleep_ns, task->disk_ns, task->preempted_ns, task->delay_ns } };
	for (int i = 0; i < (style->state ? 4 : 3); i++) {
		if (i)
			writer_putc(out, ' ');
		times_add_milliseconds(out, times[style->state][i], 6);
	}
	if (!style->state)
		writer_printf(out, "  %5.2f   %5llu", timehist_deviation(task), (unsigned long long)task->migrations);
	writer_putc(out, '\n');
}

static void print_tasks(struct timehist_style *style, struct writer *out)
{
	static const char *const headings[3][3] = {
		{ "\nRuntime summary\n", "  parent   sched-in  ", "   run-time    min-run     avg-run     max-run  stddev  migrations\n" },
		{ "\nWait-time summary\n", "  parent   sched-in  ", "   run-time      sleep      iowait     preempt       delay\n" },
		{ "\nIdle-time summary\n", "  parent  sched-out  ", "  idle-time   min-idle    avg-idle    max-idle  stddev  migrations\n" },
	};
	const char *const *heading = headings[style->timehist->options.idle ? 2 : style->state ? 1 : 0];
	writer_puts(out, heading[0]);
	writer_printf(out, "%*s%s%s", style->comm_width, "comm", heading[1], heading[2]);
	writer_printf(out, "%*s            (count)       (msec)     (msec)      (msec)      (msec)       %s\n", style->comm_width, "",
		style->state ? "(msec)" : "%");
	writer_pad(out, '-', 117);
	writer_putc(out, '\n');
	uint32_t *shown;
	size_t count = timehist_shown(style->timehist, &shown);
	for (size_t i = 0; i < count; i++)
		print_task(style, shown[i], out);
	if (!count)
		writer_puts(out, "<no still running tasks>\n");
	free(shown);
}

static void print_idle(struct timehist_style *style, uint64_t span, struct writer *out)
{
	struct timehist *timehist = style->timehist;
	size_t cpus = timehist->cpus.count > (size_t)style->cpu_count ? timehist->cpus.count : (size_t)style->cpu_count;
	writer_puts(out, "\nIdle stats:\n");
	for (size_t i = 0; i < cpus; i++) {
		if (!cpu_filter_has(&timehist->options.cpus, (uint32_t)i))
			continue;
		const struct timehist_cpu *cpu = i < timehist->cpus.count ? &timehist->cpus.items[i] : NULL;
		if (!cpu || (!cpu->idle_ns && !cpu->run_ns)) {
			if (i < (size_t)style->cpu_count)
				writer_printf(out, "    CPU %2zu idle entire time window\n", i);
			continue;
		}
		writer_printf(out, "    CPU %2zu idle for ", i);
		times_add_milliseconds(out, cpu->idle_ns, 6);
		writer_printf(out, " msec  (%6.2f%%)\n", span ? 100.0 * (double)cpu->idle_ns / (double)span : 0.0);
	}
}

static int compare_chains(const void *a, const void *b)
{
	const struct idle_chain *l = a, *r = b;
	if (l->ns != r->ns)
		return l->ns > r->ns ? -1 : 1;
	return strcmp(l->text, r->text);
}

static void print_idle_chains(struct timehist_style *style, struct writer *out)
{
	writer_puts(out, "\nIdle stats by callchain:\n");
	for (size_t i = 0; i < style->timehist->cpus.count; i++) {
		struct timehist_cpu *cpu = &style->timehist->cpus.items[i];
		if (cpu->chains.count)
			qsort(cpu->chains.items, cpu->chains.count, sizeof *cpu->chains.items, compare_chains);
		writer_printf(out, "  CPU %2zu:", i);
		times_add_milliseconds(out, cpu->idle_ns, 6);
		writer_puts(out, " msec\n");
		writer_printf(out, "  %16s  %8s  %s\n", "Idle time (msec)", "Count", "Callchains");
		writer_puts(out, "  ----------------  --------  --------------------------------------------------\n");
		for (size_t n = 0; n < cpu->chains.count; n++) {
			writer_puts(out, "  ");
			times_add_milliseconds(out, cpu->chains.items[n].ns, 12);
			writer_printf(out, " %8llu  ", (unsigned long long)cpu->chains.items[n].count);
			writer_puts(out, cpu->chains.items[n].text);
			writer_putc(out, '\n');
		}
		writer_putc(out, '\n');
	}
}

void timehist_print_summary(struct timehist_style *style, struct writer *out)
{
	struct timehist *timehist = style->timehist;
	struct timehist_totals totals = timehist_totals(timehist);
	print_tasks(style, out);
	if (timehist->skipped && !timehist->options.idle) /* idle times are those of all tasks */
		return;
	print_idle(style, totals.span_ns, out);
	if (timehist->options.idle && timehist->options.chains)
		print_idle_chains(style, out);
	writer_printf(out, "\n    Total number of unique tasks: %llu\nTotal number of context switches: %llu\n",
		(unsigned long long)totals.tasks, (unsigned long long)totals.turns);
	writer_puts(out, "           Total run time (msec): ");
	times_add_milliseconds(out, totals.run_ns, 2);
	writer_puts(out, "\n    Total scheduling time (msec): ");
	times_add_milliseconds(out, totals.span_ns, 2);
	writer_printf(out, " (x %d)\n", style->cpu_count);
	if (timehist->options.idle)
		return;
	writer_puts(out, "          Total idle time (msec): ");
	times_add_milliseconds(out, totals.idle_ns, 2);
	writer_puts(out, "\n       Total unknown time (msec): ");
	times_add_milliseconds(out, totals.unknown_ns, 2);
	writer_putc(out, '\n');
}
