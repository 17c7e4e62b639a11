#include "analysis/sched/replay.h"

#include "analysis/sched/sched_test.h"

TEST("a recording becomes what each task does, and the last sleeps are ended by wake-ups at the end")
{
	static const char letters[] = "rsw";
	struct str blob = { 0 }, text = { 0 };
	struct replay replay;
	struct session session;
	struct tape *t = sched_tape(&blob);
	put_sched_switch(t, 100, 0, 7, 1, 8);
	put_sched_task(t, 120, 0, 8, 7, 0);
	put_sched_task(t, 121, 0, 8, 7, 0);
	put_sched_switch(t, 130, 0, 8, 1, 7);
	put_sched_switch(t, 150, 0, 7, 1, 8);
	replay_init(&replay);
	run_tape(t, &replay.reader, &session);
	replay_finish(&replay);
	for (size_t i = 0; i < replay.tasks.count; i++) {
		const struct replay_task *task = &replay.tasks.items[i];
		str_printf(&text, "%s:", task->name);
		for (size_t n = 0; n < task->steps.count; n++)
			str_printf(&text, " %c%llu/%d", letters[task->steps.items[n].kind], (unsigned long long)task->steps.items[n].run_ns,
				(int)task->steps.items[n].signal);
		str_putc(&text, '\n');
	}
	EXPECT_STR(str_text(&text), "task7: s0/-1 r0/-1 s0/0 r20/-1 s0/-1 w0/1\ntask8: s0/-1 w0/0 w0/-1 r30/-1 s0/1 w0/-1\n");
	EXPECT_INT(replay.repeated, 1);
	EXPECT_INT(replay.runs, 3);
	EXPECT_INT(replay.sleeps, 5);
	str_fini(&text);
	str_fini(&blob);
	replay_fini(&replay);
	session_close(&session);
}

TEST("a thread id beyond those of the kernel is no task")
{
	struct str blob = { 0 };
	struct replay replay;
	struct session session;
	struct tape *t = sched_tape(&blob);
	put_sched_switch(t, 100, 0, 7, 1, STATES_TIDS_MAX);
	put_sched_switch(t, 130, 0, STATES_TIDS_MAX, 1, 7);
	put_sched_switch(t, 150, 0, 7, 1, STATES_TIDS_MAX - 1);
	put_sched_task(t, 160, 0, 7, STATES_TIDS_MAX, 0);
	put_sched_task(t, 161, 0, STATES_TIDS_MAX, 7, 0);
	put_sched_task(t, 162, 0, -1, 7, 0);
	replay_init(&replay);
	run_tape(t, &replay.reader, &session);
	replay_finish(&replay);
	EXPECT_INT(replay.tasks.count, 2);
	EXPECT_INT(replay.tasks.items[0].tid, 7);
	EXPECT_INT(replay.tasks.items[1].tid, STATES_TIDS_MAX - 1);
	EXPECT_INT(replay.wakes, 1); /* that ends a sleep at the end */
	EXPECT_INT(replay.repeated, 0);
	EXPECT_INT(replay.targetless, 1);
	str_fini(&blob);
	replay_fini(&replay);
	session_close(&session);
}
