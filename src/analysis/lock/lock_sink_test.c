#include "analysis/lock/lock_sink.h"

#include "analysis/lock/lock_test.h"
#include "unit.h"

enum { A = 0x1000, B = 0x2000 };

static void put_event(struct lock_run *run, unsigned event, uint32_t tid, uint64_t time, uint64_t lock, uint32_t flags)
{
	put_lock_event(run, event, tid, time, lock, flags, LOCK_PAYLOAD);
}

static const struct lock_stat *stat_of(const struct lock_run *run, uint64_t key)
{
	return lock_stats_find(&run->sink.stats, key);
}

TEST("waits add up by lock: number, sum, longest and shortest")
{
	struct lock_run run;
	lock_run_open(&run);
	put_event(&run, LOCK_WAIT_BEGINS, 7, 100, A, 2);
	put_event(&run, LOCK_WAIT_BEGINS, 8, 110, A, 2);
	put_event(&run, LOCK_WAIT_BEGINS, 9, 120, B, 2);
	put_event(&run, LOCK_WAIT_ENDS, 7, 130, A, 0);
	put_event(&run, LOCK_WAIT_ENDS, 8, 190, A, 0);
	EXPECT_INT(lock_run_read(&run, (struct lock_sink_options){ .group = LOCK_GROUP_ADDRESS, .contention_only = true }), 0);
	const struct lock_stat *a = stat_of(&run, A), *b = stat_of(&run, B);
	EXPECT(a && b);
	EXPECT_INT(a->contended, 2);
	EXPECT_INT(a->acquired, 2);
	EXPECT_INT(a->total_ns, 110);
	EXPECT_INT(a->max_ns, 80);
	EXPECT_INT(a->min_ns, 30);
	EXPECT_INT(a->average_ns, 55);
	EXPECT_INT(a->flags, 2);
	EXPECT_INT(b->contended, 1);
	EXPECT_INT(b->acquired, 0);
	EXPECT(!a->broken && !b->broken);
	lock_run_close(&run);
}

TEST("waits add up by thread, whatever the lock; a wait that began before the recording does not count")
{
	struct lock_run run;
	lock_run_open(&run);
	put_event(&run, LOCK_WAIT_ENDS, 7, 90, A, 0);
	put_event(&run, LOCK_WAIT_BEGINS, 7, 100, A, 0);
	put_event(&run, LOCK_WAIT_ENDS, 7, 110, A, 0);
	put_event(&run, LOCK_WAIT_BEGINS, 7, 120, B, 0);
	put_event(&run, LOCK_WAIT_ENDS, 7, 125, B, 0);
	EXPECT_INT(lock_run_read(&run, (struct lock_sink_options){ .group = LOCK_GROUP_TASK, .contention_only = true }), 0);
	EXPECT_INT(run.sink.stats.list.count, 1);
	EXPECT_INT(stat_of(&run, 7)->total_ns, 15);
	EXPECT_INT(stat_of(&run, 7)->contended, 2);
	EXPECT(lock_sink_thread(&run.sink, 7) && !lock_sink_thread(&run.sink, 8));
	lock_run_close(&run);
}

TEST("filters of types and addresses drop the beginning of a wait, and so the wait")
{
	static const uint32_t types[] = { 2 };
	struct lock_addresses addresses = { 0 };
	struct lock_run run;
	vec_push(&addresses.list, (uint64_t)A);
	lock_run_open(&run);
	put_event(&run, LOCK_WAIT_BEGINS, 7, 100, A, 2);
	put_event(&run, LOCK_WAIT_ENDS, 7, 110, A, 0);
	put_event(&run, LOCK_WAIT_BEGINS, 8, 100, B, 2);
	put_event(&run, LOCK_WAIT_ENDS, 8, 130, B, 0);
	put_event(&run, LOCK_WAIT_BEGINS, 9, 100, A, 1);
	put_event(&run, LOCK_WAIT_ENDS, 9, 150, A, 0);
	EXPECT_INT(lock_run_read(&run, (struct lock_sink_options){ .group = LOCK_GROUP_ADDRESS, .contention_only = true, .types = types,
		.type_count = 1, .addresses = &addresses }), 0);
	EXPECT_INT(stat_of(&run, A)->total_ns, 10);
	EXPECT_INT(stat_of(&run, A)->contended, 1);
	EXPECT_INT(stat_of(&run, B)->contended, 0);
	vec_fini(&addresses.list);
	lock_run_close(&run);
}

TEST("events of lockdep count what is acquired, and how long what is contended waits")
{
	struct lock_run run;
	lock_run_open(&run);
	put_event(&run, LOCK_IS_ACQUIRED_BY, 7, 100, A, 0);
	put_event(&run, LOCK_IS_ACQUIRED, 7, 101, A, 0);
	put_event(&run, LOCK_IS_RELEASED, 7, 105, A, 0);
	put_event(&run, LOCK_IS_ACQUIRED_BY, 7, 110, A, 0);
	put_event(&run, LOCK_IS_CONTENDED, 7, 112, A, 0);
	put_event(&run, LOCK_IS_ACQUIRED, 7, 132, A, 0);
	put_event(&run, LOCK_IS_RELEASED, 7, 140, A, 0);
	EXPECT_INT(lock_run_read(&run, (struct lock_sink_options){ .group = LOCK_GROUP_ADDRESS }), 0);
	EXPECT_INT(stat_of(&run, A)->acquired, 2);
	EXPECT_INT(stat_of(&run, A)->contended, 1);
	EXPECT_INT(stat_of(&run, A)->total_ns, 20);
	EXPECT_STR(stat_of(&run, A)->name, "lock");
	EXPECT(!stat_of(&run, A)->broken);
	lock_run_close(&run);
}

TEST("an event that contradicts the state of its lock marks the sum as broken, once by its cause, and invents no wait")
{
	struct lock_run run;
	lock_run_open(&run);
	put_event(&run, LOCK_IS_ACQUIRED_BY, 7, 100, A, 0);
	put_event(&run, LOCK_IS_RELEASED, 7, 105, A, 0);
	put_event(&run, LOCK_IS_ACQUIRED_BY, 7, 110, A, 0);
	put_event(&run, LOCK_IS_ACQUIRED_BY, 7, 115, A, 0);
	put_event(&run, LOCK_IS_ACQUIRED, 7, 120, A, 0);
	EXPECT_INT(lock_run_read(&run, (struct lock_sink_options){ .group = LOCK_GROUP_ADDRESS }), 0);
	EXPECT(stat_of(&run, A)->broken);
	EXPECT_INT(run.sink.broken[LOCK_BROKEN_RELEASE], 1);
	EXPECT_INT(run.sink.broken[LOCK_BROKEN_ACQUIRE], 0);
	EXPECT_INT(stat_of(&run, A)->total_ns, 0);
	lock_run_close(&run);
}

TEST("a clock that jumps back gives a wait without length, and a payload without its fields the lock 0")
{
	struct lock_run run;
	lock_run_open(&run);
	/* a FINISHED_ROUND between them keeps their order */
	put_event(&run, LOCK_WAIT_BEGINS, 7, 500, A, 0);
	put_head(run.tape, RECORD_FINISHED_ROUND, 0, 0);
	put_head(run.tape, RECORD_FINISHED_ROUND, 0, 0);
	put_event(&run, LOCK_WAIT_ENDS, 7, 400, A, 0);
	put_head(run.tape, RECORD_FINISHED_ROUND, 0, 0);
	put_head(run.tape, RECORD_FINISHED_ROUND, 0, 0);
	put_lock_event(&run, LOCK_WAIT_BEGINS, 8, 600, A, 0, 12);
	EXPECT_INT(lock_run_read(&run, (struct lock_sink_options){ .group = LOCK_GROUP_ADDRESS, .contention_only = true }), 0);
	EXPECT_INT(stat_of(&run, A)->total_ns, 0);
	EXPECT_INT(stat_of(&run, A)->max_ns, 0);
	EXPECT_INT(stat_of(&run, A)->acquired, 1);
	EXPECT_INT(stat_of(&run, 0)->contended, 1);
	lock_run_close(&run);
}
