#include "render/sched/schedstat_text.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 100, NAME_WIDTH = 65 };

struct pair {
	const struct schedstat_row *before, *after; /* after: NULL unless two recordings are compared */
	uint64_t before_jiffies, after_jiffies;
	bool explained;
};

static void print_dashes(struct writer *out)
{
	writer_pad(out, '-', WIDTH);
	writer_putc(out, '\n');
}

static void print_heading(struct writer *out, const char *heading)
{
	size_t dashes = WIDTH - 2 - strlen(heading);
	writer_pad(out, '-', dashes / 2);
	writer_printf(out, " %s ", heading);
	writer_pad(out, '-', dashes - dashes / 2);
	writer_putc(out, '\n');
}

static double share(double part, double whole)
{
	return whole != 0 ? part / whole * 100 : 0;
}

static double interval(uint64_t jiffies, double count)
{
	return count != 0 ? (double)jiffies / count : 0;
}

/* In our words. */
static void explain(const struct schedstat_report_line *line, char *text, size_t size)
{
	static const char *const words[][2] = {
		{ "yld_count", "calls of sched_yield()" }, { "array_exp", "not counted any more" }, { "sched_count", "calls of schedule()" },
		{ "sched_goidle", "of these, the CPU became idle" }, { "ttwu_count", "wake-ups" }, { "ttwu_local", "of these, on the same CPU" },
		{ "rq_cpu_time", "time that tasks ran (ns)" }, { "run_delay", "time that tasks waited for the CPU (ns)" },
		{ "pcount", "turns of tasks" }, { "lb_count", "attempts to balance" }, { "lb_balanced", "found in balance" },
		{ "lb_failed", "no task could be moved" }, { "lb_imbalance", "sum of the imbalance" },
		{ "lb_imbalance_load", "imbalance of load" }, { "lb_imbalance_util", "imbalance of utilization" },
		{ "lb_imbalance_task", "imbalance of numbers of tasks" }, { "lb_imbalance_misfit", "imbalance of misfit tasks" },
		{ "lb_gained", "tasks moved" }, { "lb_hot_gained", "of these, still hot in a cache" },
		{ "lb_nobusyq", "no busier queue" }, { "lb_nobusyg", "no busier group" }, { "lb_success_count", "attempts that moved tasks" },
		{ "lb_avg_pulled", "tasks moved by each of these" }, { "alb_count", "active balancing" }, { "alb_failed", "no task could be moved" },
		{ "alb_pushed", "tasks moved" }, { "ttwu_wake_remote", "wake-ups of tasks that ran on another CPU" },
		{ "ttwu_move_affine", "moved to the waker's CPU, cold in a cache" }, { "ttwu_move_balance", "moved for balance" },
	};
	const char *balance = strstr(line->name, "lb_"), *name = balance && line->name[0] != 'a' ? balance : line->name;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(words[i][0], name) == 0) {
			snprintf(text, size, "%s%s%.*s%s", words[i][1], name == balance ? " (" : "",
				name == balance ? (int)(balance - line->name - 1) : 0, line->name, name == balance ? ")" : "");
			return;
		}
	snprintf(text, size, "%s (not counted any more)", line->name);
}

static void print_line(const struct pair *pair, const struct schedstat_report_line *line, struct writer *out)
{
	char name[96];
	int decimals = line->kind == SCHEDSTAT_PULLED ? 2 : 0;
	double before = schedstat_value(pair->before, line), after = pair->after ? schedstat_value(pair->after, line) : 0;
	if (pair->explained)
		explain(line, name, sizeof name);
	else
		snprintf(name, sizeof name, "%s", line->name);
	const char *mark = line->kind == SCHEDSTAT_COUNTER ? "" : "*";
	writer_printf(out, "%s%-*s: %11.*f", mark, NAME_WIDTH - (int)strlen(mark), name, decimals, before);
	if (pair->after)
		writer_printf(out, ",%11.*f  | %8.2f%% |", decimals, after, share(after - before, before));
	if (line->base >= 0) {
		const unsigned base = (unsigned)line->base;
		writer_printf(out, "  ( %8.2f%%", share(before, (double)pair->before->values[base]));
		if (pair->after)
			writer_printf(out, ",  %8.2f%%", share(after, (double)pair->after->values[base]));
		writer_puts(out, " )");
	}
	if (line->interval) {
		writer_printf(out, "  $ %11.2f", interval(pair->before_jiffies, before));
		if (pair->after)
			writer_printf(out, ", %11.2f", interval(pair->after_jiffies, after));
		writer_puts(out, " $");
	}
	writer_putc(out, '\n');
}

static void print_place(const struct schedstats *stats, const struct schedstat_row *row, struct writer *out)
{
	const struct feature_domain *domain = schedstats_domain(stats, row);
	if (row->cpu == SCHEDSTATS_ALL)
		writer_puts(out, "CPU <ALL CPUS SUMMARY>");
	else
		writer_printf(out, "CPU %u", row->cpu);
	if (row->domain != SCHEDSTAT_NO_DOMAIN) {
		if (domain && *domain->name)
			writer_printf(out, ", DOMAIN %s", domain->name);
		else
			writer_printf(out, ", DOMAIN %d", row->domain);
		if (domain && row->cpu != SCHEDSTATS_ALL)
			writer_printf(out, " CPUS %s", domain->cpus);
	}
	writer_putc(out, '\n');
}

static void print_columns(bool domain, bool compared, struct writer *out)
{
	writer_printf(out, "%-*s ", NAME_WIDTH, "DESC");
	if (compared)
		writer_printf(out, "%12s %11s %12s %*s %s", "COUNT1", "COUNT2", "PCT_CHANGE", domain ? 16 : 14,
			domain ? "AVG_JIFFIES1" : "PCT_CHANGE1", domain ? "AVG_JIFFIES2" : "PCT_CHANGE2");
	else
		writer_printf(out, "%12s %*s", "COUNT", domain ? 14 : 12, domain ? "AVG_JIFFIES" : "PCT_CHANGE");
	writer_putc(out, '\n');
}

static void print_row(const struct schedstats *stats, const struct pair *pair, struct writer *out)
{
	struct schedstat_report_line lines[SCHEDSTAT_LINES_MAX];
	bool domain = pair->before->domain != SCHEDSTAT_NO_DOMAIN;
	size_t count = schedstat_report_lines(pair->before->version, domain, lines);
	print_dashes(out);
	print_place(stats, pair->before, out);
	print_dashes(out);
	print_columns(domain, pair->after, out);
	if (!domain)
		print_dashes(out);
	for (size_t i = 0; i < count; i++) {
		if (lines[i].heading)
			print_heading(out, lines[i].heading);
		print_line(pair, &lines[i], out);
	}
}

static void print_begin(struct writer *out)
{
	writer_puts(out, "Description\n");
	print_dashes(out);
	writer_printf(out, "%-24s%s\n", "DESC", "-> Description of the field");
	writer_printf(out, "%-24s%s\n", "COUNT", "-> Value of the field");
	writer_printf(out, "%-24s%s\n", "PCT_CHANGE", "-> Percent change with corresponding base value");
	writer_printf(out, "%-24s%s\n", "AVG_JIFFIES", "-> Avg time in jiffies between two consecutive occurrence of event");
	writer_putc(out, '\n');
	print_dashes(out);
	writer_printf(out, "%-*s: ", NAME_WIDTH, "Time elapsed (in jiffies)");
}

void schedstats_print(const struct schedstats *stats, bool explained, struct writer *out)
{
	print_begin(out);
	writer_printf(out, "%11llu\n", (unsigned long long)stats->jiffies);
	for (size_t i = 0; i < stats->rows.count; i++) {
		const struct pair pair = { .before = &stats->rows.items[i], .before_jiffies = stats->jiffies, .explained = explained };
		print_row(stats, &pair, out);
	}
	print_dashes(out);
}

void schedstats_print_diff(const struct schedstats *before, const struct schedstats *after, bool explained, struct writer *out)
{
	print_begin(out);
	writer_printf(out, "%11llu,%11llu\n", (unsigned long long)before->jiffies, (unsigned long long)after->jiffies);
	for (size_t i = 0; i < before->rows.count && before->rows.items[i].cpu == SCHEDSTATS_ALL; i++) {
		const struct pair pair = { &before->rows.items[i], schedstats_average(after, before->rows.items[i].domain), before->jiffies,
			after->jiffies, explained };
		if (pair.after)
			print_row(before, &pair, out);
	}
	print_dashes(out);
}
