#include "rewrite/compact.h"

#include "rewrite/test_rewrite.h"
#include "unit.h"

/* Which records are dropped: a digit per record. */
static void expect_plan(struct tape *tape, const char *want)
{
	struct compact_plan plan;
	CLEANUP_STR struct str got = { 0 };
	EXPECT_INT(compact_plan_make(&plan, &tape->source, NULL, NULL), 0);
	for (uint64_t i = 0; i < plan.records; i++)
		str_puts(&got, compact_plan_drops(&plan, i) ? "1" : "0");
	EXPECT_STR(str_text(&got), want);
	compact_plan_fini(&plan);
	source_close(&tape->source);
}

TEST("mappings without samples are dropped, at both borders of a mapping")
{
	struct tape *t = recording_new();
	put_mmap(t, 7, 1, 0x1000, 0x1000, "/a");   /* makes the thread */
	put_mmap(t, 7, 2, 0x3000, 0x1000, "/b");
	put_mmap(t, 7, 3, 0x5000, 0x1000, "/c");
	put_mmap(t, 7, 4, 0x7000, 0x1000, "/d");
	put_mmap(t, 7, 5, 0x9000, 0x1000, "/e");
	put_chain_sample(t, 7, 6, 0x3fff, (const uint64_t[]){ 0x3fff, 0x4000, 0x6fff, 0x7000, 0x8000, 0x8fff }, 6);
	expect_plan(t, "001010");
}

TEST("a covered mapping without samples of its time is dropped, and its successor remains")
{
	struct tape *t = recording_new();
	put_mmap(t, 7, 1, 0x1000, 0x1000, "/a");
	put_mmap(t, 7, 2, 0x3000, 0x1000, "/old");
	put_mmap(t, 7, 3, 0x3000, 0x1000, "/new");
	put_sample(t, 7, 4, 0x3000);
	expect_plan(t, "0100");
}

TEST("threads without samples are dropped unless those with samples descend from them")
{
	struct tape *t = recording_new();
	put_fork(t, 10, 1, 1);
	put_mmap(t, 10, 2, 0x1000, 0x1000, "/a");
	put_fork(t, 11, 10, 3);
	put_fork(t, 12, 10, 4);
	put_mmap(t, 12, 5, 0x5000, 0x1000, "/b");
	put_fork(t, 13, 11, 6);
	put_sample(t, 13, 7, 0x1000);
	expect_plan(t, "0001100");
}

TEST("records are judged in the order of their times")
{
	struct tape *t = recording_new();
	put_mmap(t, 7, 1, 0x1000, 0x1000, "/a");
	put_sample(t, 7, 3, 0x3000);
	put_mmap(t, 7, 2, 0x3000, 0x1000, "/b");
	put_mmap(t, 7, 4, 0x3000, 0x1000, "/c");
	expect_plan(t, "0001");
}
