#include "analysis/sched/timehist.h"

#include "analysis/sched/sched_test.h"

static void add_row(void *context, const struct timehist_row *row)
{
	struct str *text = context;
	if (row->kind == TIMEHIST_LOST)
		str_printf(text, "lost %llu\n", (unsigned long long)row->lost);
	else
		str_printf(text, "%llu cpu%d %llu/%llu/%llu%s%s %c\n", (unsigned long long)row->time, row->cpu, (unsigned long long)row->wait_ns,
			(unsigned long long)row->delay_ns, (unsigned long long)row->run_ns, row->wait_lost ? " wait?" : "",
			row->run_lost ? " run?" : "", row->letter);
}

/* Two CPUs from 100 to 300: 7 runs on CPU 0 except in [150, 200), 8 on CPU 1 until 250. */
static void put_two_cpus(struct tape *t)
{
	put_sched_switch(t, 100, 0, 0, 0, 7);
	put_sched_switch(t, 150, 0, 7, 1, 0);
	put_sched_task(t, 190, 1, 8, 7, 0);
	put_sched_switch(t, 200, 0, 0, 0, 7);
	put_sched_switch(t, 250, 1, 8, 2, 0);
	put_sched_switch(t, 300, 0, 7, 1, 0);
}

static struct timehist_totals run_timehist(struct tape *t, const struct timehist_options *options, struct str *text)
{
	struct timehist timehist;
	struct session session;
	timehist_init(&timehist, options, false);
	timehist.context = text;
	timehist.row = add_row;
	run_tape(t, &timehist.reader, &session);
	timehist_finish(&timehist);
	struct timehist_totals totals = timehist_totals(&timehist);
	timehist_fini(&timehist);
	session_close(&session);
	return totals;
}

TEST("the sums of run time and idle time are the time of all CPUs")
{
	struct str blob = { 0 }, text = { 0 };
	struct tape *t = sched_tape(&blob);
	put_two_cpus(t);
	struct timehist_totals totals = run_timehist(t, &(struct timehist_options){ 0 }, &text);
	EXPECT_STR(str_text(&text), "100 cpu0 0/0/0 R\n150 cpu0 0/0/50 S\n200 cpu0 50/50/50 R\n250 cpu1 0/0/0 D\n300 cpu0 50/10/100 S\n");
	EXPECT_INT(totals.span_ns, 200);
	EXPECT_INT(totals.run_ns, 50 + 100 + 150);
	EXPECT_INT(totals.idle_ns, 50 + 50);
	EXPECT_INT(totals.unknown_ns, 0);
	EXPECT_INT(totals.tasks, 2);
	EXPECT_INT(totals.turns, 5);
	str_fini(&text);
	str_fini(&blob);
}

TEST("a range of time cuts turns, and its sums close, too")
{
	struct str blob = { 0 }, text = { 0 };
	struct tape *t = sched_tape(&blob);
	put_two_cpus(t);
	struct timehist_totals totals = run_timehist(t, &(struct timehist_options){ .start = 120, .stop = 210 }, &text);
	EXPECT_STR(str_text(&text), "150 cpu0 0/0/30 S\n200 cpu0 50/50/50 R\n210 cpu0 50/10/10 S\n");
	EXPECT_INT(totals.span_ns, 90);
	EXPECT_INT(totals.run_ns, 30 + 10 + 90);
	EXPECT_INT(totals.idle_ns, 50);
	EXPECT_INT(totals.unknown_ns, 0);
	str_fini(&text);
	str_fini(&blob);
}

TEST("after lost events times are unknown, and the sums say how much")
{
	struct str blob = { 0 }, text = { 0 };
	struct tape *t = sched_tape(&blob);
	put_sched_switch(t, 100, 0, 0, 0, 7);
	put_lost(t, 140, 0, 3);
	put_sched_task(t, 160, 0, 7, 9, 0);
	put_sched_switch(t, 200, 0, 7, 1, 0);
	put_sched_switch(t, 210, 0, 0, 0, 7);
	struct timehist_totals totals = run_timehist(t, &(struct timehist_options){ 0 }, &text);
	EXPECT_STR(str_text(&text), "100 cpu0 0/0/0 R\nlost 3\n200 cpu0 0/0/40 wait? run? S\n210 cpu0 0/0/10 wait? R\n");
	EXPECT_INT(totals.run_ns, 40);
	EXPECT_INT(totals.idle_ns, 10);
	EXPECT_INT(totals.unknown_ns, 60);
	str_fini(&text);
	str_fini(&blob);
}

TEST("the scheduler's account of run times dates a switch that was not recorded")
{
	struct str blob = { 0 }, text = { 0 };
	struct tape *t = sched_tape(&blob);
	put_sched_switch(t, 100, 0, 7, 1, 0);
	put_sched_task(t, 120, 1, 8, 7, 0);
	put_sched_task(t, 170, 0, 7, 7, 45); /* since 125 */
	put_sched_switch(t, 200, 0, 7, 1, 0);
	struct timehist_totals totals = run_timehist(t, &(struct timehist_options){ 0 }, &text);
	EXPECT_STR(str_text(&text), "100 cpu0 0/0/0 S\n200 cpu0 25/5/75 S\n");
	EXPECT_INT(totals.run_ns, 75);
	EXPECT_INT(totals.idle_ns, 25);
	EXPECT_INT(totals.unknown_ns, 0);
	str_fini(&text);
	str_fini(&blob);
}
