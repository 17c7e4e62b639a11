#include "render/sched/task_runs_text.h"

#include <stdlib.h>

#include "unit.h"

static const struct run again = { .in = 10000011500, .out = 10000031999, .cpu = 1, .pid = 7, .tid = 8, .comm = "beta", .again = true,
	.out_in = 20499, .out_out = 40998, .in_in = 1300000077, .in_out = 0 };

static void check(const struct task_runs_style *style, const struct run *run, const char *colour, const char *expected)
{
	struct writer out;
	writer_open(&out, -1, 0);
	task_runs_print_run(style, run, run->comm, colour, &out);
	writer_putc(&out, '\0');
	EXPECT_STR(out.buffer, expected);
	writer_fini(&out);
}

TEST("a run's points in time and lengths are rounded, halves to even digits")
{
	struct run first = again;
	first.again = false;
	check(&(struct task_runs_style){ 0 }, &again, NULL,
		"        10.000012         10.000032   1        7        8             beta     20.499          20.499\n");
	first.in = 10000010500;
	first.out = 10000013000;
	check(&(struct task_runs_style){ .unit = RUNS_MILLISECONDS }, &first, NULL,
		"        10.000010         10.000013   1        7        8             beta      0.002          -1.000\n");
	check(&(struct task_runs_style){ .unit = RUNS_NANOSECONDS, .extended = true, .csv = true }, &again, "\033[91m",
		"10.000011500;10.000031999;1;7;8;beta;20499;20499;40998;1300000077;0\n");
}

TEST("a highlighted line has its colour around the thread id, which is grey if it is that of the process")
{
	struct run main = again;
	main.tid = 7;
	check(&(struct task_runs_style){ .colours = true }, &main, "\033[91m",
		"\033[91m        10.000012         10.000032   1        7 \033[90m       7\033[0m "
		"\033[91m            beta     20.499          20.499\033[0m\n");
	check(&(struct task_runs_style){ .colours = true }, &again, NULL,
		"        10.000012         10.000032   1        7        8             beta     20.499          20.499\n");
}

static const struct run_sum sums[] = {
	{ .pid = 7, .tid = 8, .comm = "b", .count = 3, .total_ns = 1100029001, .min_ns = 10500, .max_ns = 1100000000, .max_at = 11300050577,
		.median_sum = 37002, .again = true, .out_in = 5, .out_in_at = 10000000500, .out_out = 6, .in_in = 7, .in_out = 8 },
	{ .pid = -1, .tid = 9, .comm = "c", .count = 2, .total_ns = 5, .min_ns = 2, .max_ns = 3, .max_at = 1, .median_sum = 5 },
};
static const char *const names[] = { "b", "a long name" };

static void check_sums(const struct task_runs_style *style, const char *expected)
{
	struct writer out;
	writer_open(&out, -1, 0);
	task_runs_print_sums(style, sums, 2, names, &out);
	writer_putc(&out, '\0');
	EXPECT_STR(out.buffer, expected);
	writer_fini(&out);
}

TEST("columns of sums are as wide as their longest text, and the titles above are in the middle")
{
	check_sums(&(struct task_runs_style){ 0 },
		"\nSummary\n Task Information                         Runtime Information                      \n"
		"PID TID        Comm Runs Accumulated       Mean Median    Min         Max    Max At\n"
		"  7   8           b    3 1100029.001 366676.334 18.501 10.500 1100000.000 11.300051\n"
		" -1   9 a long name    2       0.005      0.002  0.002  0.002       0.003  0.000000\n");
}

TEST("sums between semicolons have means and medians in the unit, and -1 for times between runs of a task with one run")
{
	check_sums(&(struct task_runs_style){ .sums_csv = true, .sums_extended = true, .unit = RUNS_NANOSECONDS },
		"PID;TID;Comm;Runs;Accumulated;Mean;Median;Min;Max;Max At;Out-In;Max At;Out-Out;In-In;In-Out\n"
		"7;8;b;3;1100029001;366676334;18501;10500;1100000000;11.300050577;5;10.000000500;6;7;8\n"
		"-1;9;a long name;2;5;2;2;2;3;0.000000001;-1;-1.000000000;-1;-1;-1\n");
}
