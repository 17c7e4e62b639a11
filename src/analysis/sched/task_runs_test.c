#include "analysis/sched/task_runs.h"

#include "analysis/sched/sched_test.h"

static void add_run(void *context, const struct run *run)
{
	str_printf(context, "%s/%d cpu%d %llu-%llu", run->comm, run->tid, run->cpu, (unsigned long long)run->in, (unsigned long long)run->out);
	if (run->again)
		str_printf(context, " %llu %llu %llu %llu", (unsigned long long)run->out_in, (unsigned long long)run->out_out,
			(unsigned long long)run->in_in, (unsigned long long)run->in_out);
	str_putc(context, '\n');
}

static void add_sum(struct str *text, const struct run_sum *sum)
{
	str_printf(text, "%s*%llu %llu %llu-%llu@%llu median %llu", sum->comm, (unsigned long long)sum->count, (unsigned long long)sum->total_ns,
		(unsigned long long)sum->min_ns, (unsigned long long)sum->max_ns, (unsigned long long)sum->max_at,
		(unsigned long long)sum->median_sum);
	if (sum->again)
		str_printf(text, " %llu@%llu %llu %llu %llu", (unsigned long long)sum->out_in, (unsigned long long)sum->out_in_at,
			(unsigned long long)sum->out_out, (unsigned long long)sum->in_in, (unsigned long long)sum->in_out);
	str_putc(text, '\n');
}

/* Task 7 runs 110-120, 140-145 and 200-230, task 8 runs 120-140, task 9 from 145 on, which the recording does not end. */
static void analyse(const struct task_runs_options *options, struct str *text)
{
	struct str blob = { 0 };
	struct task_runs runs;
	struct session session;
	struct tape *t = sched_tape(&blob);
	put_sched_switch(t, 110, 0, 5, 1, 7);
	put_sched_switch(t, 120, 0, 7, 1, 8);
	put_sched_switch(t, 140, 0, 8, 1, 7);
	put_sched_switch(t, 145, 0, 7, 0, 9);
	put_sched_switch(t, 200, 1, 0, 0, 7);
	put_sched_switch(t, 230, 1, 7, 1, 0);
	put_sched_switch(t, 260, 1, 0, 1, 8);
	task_runs_init(&runs, options);
	runs.context = text;
	runs.run = add_run;
	run_tape(t, &runs.reader, &session);
	task_runs_finish(&runs);
	for (size_t i = 0; i < runs.sums.count; i++)
		add_sum(text, &runs.sums.items[i]);
	task_runs_fini(&runs);
	session_close(&session);
	str_fini(&blob);
}

TEST("a run lasts from the switch to the task to the switch from it, and has the times since the task's run before")
{
	struct str text = { 0 };
	analyse(&(struct task_runs_options){ .stop = UINT64_MAX }, &text);
	EXPECT_STR(str_text(&text), "task7/7 cpu0 110-120\ntask8/8 cpu0 120-140\ntask7/7 cpu0 140-145 20 25 30 35\n"
		"task7/7 cpu1 200-230 55 85 60 90\n");
	str_fini(&text);
}

TEST("sums have the shortest, the longest and the middle run, and the longest of each time between runs")
{
	struct str text = { 0 };
	analyse(&(struct task_runs_options){ .start = 120, .stop = 230, .sums = true }, &text);
	EXPECT_STR(str_text(&text), "task8/8 cpu0 120-140\ntask7/7 cpu0 140-145\ntask7/7 cpu1 200-230 55 85 60 90\n"
		"task7*2 35 5-30@200 median 35 55@200 85 60 90\ntask8*1 20 20-20@120 median 40\n");
	str_fini(&text);
}

TEST("runs that begin before or end after the range of time are left out")
{
	struct str text = { 0 };
	analyse(&(struct task_runs_options){ .start = 121, .stop = 229 }, &text);
	EXPECT_STR(str_text(&text), "task7/7 cpu0 140-145\n");
	str_fini(&text);
}
