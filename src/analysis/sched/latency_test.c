#include "analysis/sched/latency.h"

#include "analysis/sched/sched_test.h"

static void run_latency(const struct latency_options *options, struct str *text)
{
	struct str blob = { 0 };
	struct latency latency;
	struct session session;
	struct tape *t = sched_tape(&blob);
	put_comm(t, 7, 0, "alpha\0\0", 16);
	put_u64(t, 0);
	put_u64(t, 1);
	put_comm(t, 8, 0, "alpha\0\0", 16);
	put_u64(t, 0);
	put_u64(t, 1);
	put_sched_switch(t, 100, 0, 9, 1, 0);
	put_sched_task(t, 110, 1, 1, 7, 0);
	put_sched_switch(t, 130, 0, 0, 0, 7);
	put_sched_task(t, 140, 0, 7, 7, 10);
	put_sched_task(t, 145, 0, 7, 8, 0);
	put_sched_switch(t, 150, 0, 7, 0, 8);
	put_sched_switch(t, 180, 0, 8, 1, 7);
	latency_init(&latency, options, false);
	run_tape(t, &latency.reader, &session);
	latency_finish(&latency);
	for (size_t i = 0; i < latency.rows.count; i++) {
		const struct latency_row *row = &latency.rows.items[i];
		str_printf(text, "%s*%u %llu %llu/%llu max %llu-%llu\n", row->name, row->merged, (unsigned long long)row->runtime_ns,
			(unsigned long long)row->delay_ns, (unsigned long long)row->count, (unsigned long long)row->max_start,
			(unsigned long long)row->max_end);
	}
	latency_fini(&latency);
	session_close(&session);
	str_fini(&blob);
}

TEST("tasks with one name are one row, with the sum of their delays and the greatest of them")
{
	static const enum latency_key keys[] = { LATENCY_AVERAGE };
	struct str text = { 0 };
	run_latency(&(struct latency_options){ .keys = keys, .key_count = 1, .cpu = CPU_NONE }, &text);
	EXPECT_STR(str_text(&text), "alpha*2 10 55/3 max 150-180\n");
	str_fini(&text);
}

TEST("by task, each is a row, in the order of the key")
{
	static const enum latency_key keys[] = { LATENCY_SWITCHES };
	struct str text = { 0 };
	run_latency(&(struct latency_options){ .keys = keys, .key_count = 1, .by_task = true, .cpu = CPU_NONE }, &text);
	EXPECT_STR(str_text(&text), "alpha*0 10 50/2 max 150-180\nalpha*0 0 5/1 max 145-150\n");
	str_fini(&text);
}

TEST("a recording without tasks has no rows")
{
	struct str blob = { 0 };
	struct latency latency;
	struct session session;
	struct tape *t = sched_tape(&blob);
	put_comm(t, 7, 0, "alpha\0\0", 16);
	put_u64(t, 0);
	put_u64(t, 1);
	latency_init(&latency, &(struct latency_options){ .cpu = CPU_NONE }, false);
	run_tape(t, &latency.reader, &session);
	latency_finish(&latency);
	EXPECT_INT(latency.rows.count, 0);
	latency_fini(&latency);
	session_close(&session);
	str_fini(&blob);
}

TEST("keys of --sort are whole words")
{
	EXPECT_INT(latency_key_of("switch", 6), LATENCY_SWITCHES);
	EXPECT_INT(latency_key_of("switches", 8), -1);
	EXPECT_INT(latency_key_of("max,", 3), LATENCY_MAXIMUM);
}
