#include "render/sched/task_runs_text.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

enum { FIELD_SIZE = 48, SUM_COLUMNS = 15, SUM_COLUMNS_SHORT = 10 };
#define GREY "\033[90m"
#define PLAIN "\033[0m"

/* To the nearest, halves to the even neighbour. */
static uint64_t divide(uint64_t value, uint64_t by)
{
	uint64_t quotient = value / by, rest = value % by;
	return quotient + (rest > by - rest || (rest == by - rest && quotient & 1));
}

/* sum / count as a length of time. */
static void put_length(char field[FIELD_SIZE], enum task_runs_unit unit, uint64_t sum, uint64_t count)
{
	if (unit == RUNS_NANOSECONDS) {
		snprintf(field, FIELD_SIZE, "%llu", (unsigned long long)divide(sum, count));
		return;
	}
	uint64_t step = unit == RUNS_MILLISECONDS ? 1000 : 1;
	uint64_t thousandths = count <= UINT64_MAX / step ? divide(sum, count * step) : 0;
	snprintf(field, FIELD_SIZE, "%llu.%03u", (unsigned long long)(thousandths / 1000), (unsigned)(thousandths % 1000));
}

static void put_gap(char field[FIELD_SIZE], enum task_runs_unit unit, bool known, uint64_t ns)
{
	if (known)
		put_length(field, unit, ns, 1);
	else
		snprintf(field, FIELD_SIZE, unit == RUNS_NANOSECONDS ? "-1" : "-1.000");
}

static void put_time(char field[FIELD_SIZE], enum task_runs_unit unit, bool known, uint64_t ns)
{
	uint64_t second = unit == RUNS_NANOSECONDS ? 1000000000 : 1000000;
	uint64_t time = unit == RUNS_NANOSECONDS ? ns : divide(ns, 1000);
	int digits = unit == RUNS_NANOSECONDS ? 9 : 6;
	snprintf(field, FIELD_SIZE, "%s%llu.%0*u", known ? "" : "-", known ? (unsigned long long)(time / second) : 1ull, digits,
		known ? (unsigned)(time % second) : 0);
}

static void add_fields(const char *const *fields, size_t count, struct writer *out)
{
	for (size_t i = 0; i < count; i++) {
		if (i)
			writer_putc(out, ';');
		writer_puts(out, fields[i]);
	}
	writer_putc(out, '\n');
}

enum { RUN_COLUMNS = 11, RUN_COLUMNS_SHORT = 8 };

void task_runs_print_heading(const struct task_runs_style *style, struct writer *out)
{
	static const char *const titles[RUN_COLUMNS] = { "Switched-In", "Switched-Out", "CPU", "PID", "TID", "Comm", "Runtime",
		"Time Out-In", "Time Out-Out", "Time In-In", "Time In-Out" };
	static const int widths[RUN_COLUMNS] = { 17, 17, 3, 8, 8, 16, 10, 15, 15, 15, 15 };
	size_t count = style->extended ? RUN_COLUMNS : RUN_COLUMNS_SHORT;
	if (style->csv) {
		add_fields(titles, count, out);
		return;
	}
	for (size_t i = 0; i < count; i++)
		writer_printf(out, "%s%*s", i ? " " : "", widths[i], titles[i]);
	writer_putc(out, '\n');
}

static void print_line(const struct task_runs_style *style, const struct run *run, const char *const fields[RUN_COLUMNS],
	const char *colour, struct writer *out)
{
	const char *begin = colour && style->colours ? colour : "";
	bool grey = style->colours && run->pid == run->tid;
	writer_add_styled(out, begin, strlen(begin));
	writer_printf(out, "%17s %17s %3s %8s ", fields[0], fields[1], fields[2], fields[3]);
	writer_add_styled(out, GREY, grey ? strlen(GREY) : 0);
	writer_printf(out, "%8s", fields[4]);
	writer_add_styled(out, PLAIN, grey ? strlen(PLAIN) : 0);
	writer_putc(out, ' ');
	writer_add_styled(out, begin, strlen(begin));
	writer_printf(out, "%16s %10s %15s", fields[5], fields[6], fields[7]);
	for (size_t i = RUN_COLUMNS_SHORT; style->extended && i < RUN_COLUMNS; i++)
		writer_printf(out, " %15s", fields[i]);
	writer_add_styled(out, PLAIN, *begin ? strlen(PLAIN) : 0);
	writer_putc(out, '\n');
}

void task_runs_print_run(const struct task_runs_style *style, const struct run *run, const char *name, const char *colour,
	struct writer *out)
{
	char text[RUN_COLUMNS][FIELD_SIZE];
	const char *fields[RUN_COLUMNS];
	const uint64_t gaps[] = { run->out_in, run->out_out, run->in_in, run->in_out };
	put_time(text[0], style->unit, true, run->in);
	put_time(text[1], style->unit, true, run->out);
	snprintf(text[2], FIELD_SIZE, "%d", run->cpu);
	snprintf(text[3], FIELD_SIZE, "%d", run->pid);
	snprintf(text[4], FIELD_SIZE, "%d", run->tid);
	put_length(text[6], style->unit, run->out - run->in, 1);
	for (size_t i = 0; i < 4; i++)
		put_gap(text[7 + i], style->unit, run->again, gaps[i]);
	for (size_t i = 0; i < RUN_COLUMNS; i++)
		fields[i] = i == 5 ? name : text[i];
	if (style->csv)
		add_fields(fields, style->extended ? RUN_COLUMNS : RUN_COLUMNS_SHORT, out);
	else
		print_line(style, run, fields, colour, out);
}

/* The fields of a sum but its name. */
static void sum_fields(const struct task_runs_style *style, const struct run_sum *sum, char text[SUM_COLUMNS][FIELD_SIZE])
{
	const uint64_t gaps[] = { sum->out_out, sum->in_in, sum->in_out };
	snprintf(text[0], FIELD_SIZE, "%d", sum->pid);
	snprintf(text[1], FIELD_SIZE, "%d", sum->tid);
	snprintf(text[3], FIELD_SIZE, "%llu", (unsigned long long)sum->count);
	put_length(text[4], style->unit, sum->total_ns, 1);
	put_length(text[5], style->unit, sum->total_ns, sum->count);
	put_length(text[6], style->unit, sum->median_sum, 2);
	put_length(text[7], style->unit, sum->min_ns, 1);
	put_length(text[8], style->unit, sum->max_ns, 1);
	put_time(text[9], style->unit, true, sum->max_at);
	put_gap(text[10], style->unit, sum->again, sum->out_in);
	put_time(text[11], style->unit, sum->again, sum->out_in_at);
	for (size_t i = 0; i < 3; i++)
		put_gap(text[12 + i], style->unit, sum->again, gaps[i]);
}

/* A title over columns of this width, in the middle. */
static void add_title(const char *title, size_t width, struct writer *out)
{
	size_t len = strlen(title), left = width > len ? (width - len) / 2 : 0;
	writer_pad(out, ' ', left);
	writer_puts(out, title);
	writer_pad(out, ' ', width > len + left ? width - len - left : 0);
}

/* The width of the columns from first to end - 1 and the spaces between them. */
static size_t width_of(const int widths[SUM_COLUMNS], size_t first, size_t end)
{
	size_t width = end - first - 1;
	for (size_t i = first; i < end; i++)
		width += (size_t)widths[i];
	return width;
}

static const char *const sum_titles[SUM_COLUMNS] = { "PID", "TID", "Comm", "Runs", "Accumulated", "Mean", "Median", "Min", "Max", "Max At",
	"Out-In", "Max At", "Out-Out", "In-In", "In-Out" };

static void print_sum(const char *const fields[SUM_COLUMNS], const int widths[SUM_COLUMNS], size_t count, struct writer *out)
{
	for (size_t i = 0; i < count; i++)
		writer_printf(out, "%s%*s", i ? " " : "", widths[i], fields[i]);
	writer_putc(out, '\n');
}

static void print_sum_headings(const int widths[SUM_COLUMNS], size_t count, struct writer *out)
{
	writer_puts(out, "\nSummary\n");
	add_title("Task Information", width_of(widths, 0, 3), out);
	writer_putc(out, ' ');
	add_title("Runtime Information", width_of(widths, 3, SUM_COLUMNS_SHORT), out);
	if (count > SUM_COLUMNS_SHORT) {
		writer_putc(out, ' ');
		add_title("Max Inter Task Times", width_of(widths, SUM_COLUMNS_SHORT, SUM_COLUMNS), out);
	}
	writer_putc(out, '\n');
	print_sum(sum_titles, widths, count, out);
}

void task_runs_print_sums(const struct task_runs_style *style, const struct run_sum *sums, size_t count, const char *const *names,
	struct writer *out)
{
	size_t columns = style->sums_extended ? SUM_COLUMNS : SUM_COLUMNS_SHORT;
	char text[SUM_COLUMNS][FIELD_SIZE];
	const char *fields[SUM_COLUMNS];
	int widths[SUM_COLUMNS];
	for (size_t i = 0; i < SUM_COLUMNS; i++)
		widths[i] = (int)strlen(sum_titles[i]);
	for (int pass = style->sums_csv; pass < 2; pass++) {
		if (pass && style->sums_csv)
			add_fields(sum_titles, columns, out);
		else if (pass)
			print_sum_headings(widths, columns, out);
		for (size_t s = 0; s < count; s++) {
			sum_fields(style, &sums[s], text);
			for (size_t i = 0; i < SUM_COLUMNS; i++) {
				fields[i] = i == 2 ? names[s] : text[i];
				int len = (int)strlen(fields[i]);
				widths[i] = len > widths[i] ? len : widths[i];
			}
			if (pass && style->sums_csv)
				add_fields(fields, columns, out);
			else if (pass)
				print_sum(fields, widths, columns, out);
		}
	}
}
