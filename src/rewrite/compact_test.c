#include "rewrite/compact.h"

#include "rewrite/test_rewrite.h"
#include "unit.h"

/* Which records are dropped: a digit per record. */
static void expect_plan(struct tape *tape, const char *want)
{
	struct compact_plan plan;
	CLEANUP_STR struct str got = { 0 };
	EXPECT_INT(compact_plan_make(&plan, &tape->source, &(struct compact_options){ 0 }, NULL), 0);
	for (uint64_t i = 0; i < plan.records; i++)
		str_puts(&got, compact_plan_drops(&plan, i) ? "1" : "0");
	EXPECT_STR(str_text(&got), want);
	compact_plan_fini(&plan);
	source_close(&tape->source);
}

static void put_named(struct tape *t, uint32_t pid, uint32_t tid, uint64_t time)
{
	put_head(t, RECORD_COMM, 0, 16 + 16);
	put(t, (uint32_t[]){ pid, tid }, 8);
	put(t, "name\0\0\0", 8);
	put(t, (uint32_t[]){ pid, tid }, 8);
	put_u64(t, time);
}

static void put_thread_fork(struct tape *t, uint32_t pid, uint32_t tid, uint32_t ppid, uint32_t ptid, uint64_t time)
{
	put_head(t, RECORD_FORK, 0, 24 + 16);
	put(t, (uint32_t[]){ pid, ppid, tid, ptid }, 16);
	put_u64(t, time);
	put(t, (uint32_t[]){ ppid, ptid }, 8);
	put_u64(t, time);
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

TEST("a thread that forked a process needs its leader, and a sample of an unknown thread needs its process")
{
	struct tape *t = recording_new();
	put_named(t, 7, 7, 1);
	put_named(t, 7, 8, 2);
	put_named(t, 9, 9, 3);
	put_thread_fork(t, 20, 20, 7, 8, 4);
	put_sample(t, 20, 5, 0x1000);
	expect_plan(t, "00100");
	t = recording_new();
	put_named(t, 7, 7, 1);
	put_named(t, 9, 9, 2);
	put_head(t, RECORD_SAMPLE, RECORD_MISC_USER, 32);
	put_u64(t, 0x1000);
	put(t, (uint32_t[]){ 7, 6 }, 8);
	put_u64(t, 3);
	put_u64(t, 0);
	expect_plan(t, "010");
}

TEST("the mapping of a compiler's dump remains, if its process does")
{
	struct tape *t = recording_new();
	put_mmap(t, 7, 1, 0x1000, 0x1000, "/a");
	put_mmap(t, 7, 2, 0x3000, 0x1000, "/tmp/jit-7.dump");
	put_mmap(t, 8, 3, 0x1000, 0x1000, "/b");
	put_mmap(t, 8, 4, 0x3000, 0x1000, "/tmp/jit-8.dump");
	put_sample(t, 7, 5, 0x1000);
	expect_plan(t, "00110");
}

TEST("a recording with pieces of a hardware trace is refused, whatever its header says")
{
	struct tape *t = recording_new();
	struct compact_plan plan;
	struct error err = { 0 };
	put_head(t, RECORD_AUXTRACE_INFO, 0, 8);
	put_u64(t, 1);
	EXPECT(compact_plan_make(&plan, &t->source, &(struct compact_options){ 0 }, &err) < 0);
	EXPECT(strstr(err.text, "hardware trace"));
	compact_plan_fini(&plan);
	source_close(&t->source);
}

enum { CHILDREN = 70000, PER_CHILD = 4 };

static void put_exit(struct tape *t, uint32_t tid, uint64_t time)
{
	put_head(t, RECORD_EXIT, 0, 40);
	put_ids(t, tid);
	put_ids(t, tid);
	put_u64(t, time);
	put_ids(t, tid);
	put_u64(t, time);
}

/* Children of thread 10 that map a file of their own and exit; every 1000th is sampled. */
static struct tape *recording_of_children(void)
{
	struct tape *t = recording_new();
	char name[32];
	for (uint32_t i = 0; i < CHILDREN; i++) {
		uint32_t tid = 100 + i, time = 1 + PER_CHILD * i;
		put_fork(t, tid, 10, time);
		snprintf(name, sizeof name, "/lib/%u", i % 50);
		put_mmap(t, tid, time + 1, 0x1000, 0x1000, name);
		if (i % 1000 == 999)
			put_sample(t, tid, time + 2, 0x1000);
		put_exit(t, tid, time + 3);
	}
	return t;
}

static uint64_t drops_of(struct tape *t, bool remembers, int want)
{
	struct compact_plan plan;
	EXPECT_INT(compact_plan_make(&plan, &t->source, &(struct compact_options){ .remembers = remembers }, NULL), want);
	uint64_t drops = plan.drops;
	compact_plan_fini(&plan);
	source_close(&t->source);
	return drops;
}

TEST("of very many threads that ended, the same records are dropped as if all were remembered")
{
	uint64_t forgotten = drops_of(recording_of_children(), false, 0), remembered = drops_of(recording_of_children(), true, 0);
	EXPECT_INT(forgotten, remembered);
	EXPECT(forgotten >= (CHILDREN - CHILDREN / 1000 - 50) * 3 - 50);
}

TEST("a sample of a thread that was forgotten asks for another reading, which remembers it")
{
	struct tape *t = recording_of_children();
	put_sample(t, 100, PER_CHILD * CHILDREN + 1, 0x1000);
	drops_of(t, false, 1);
	t = recording_of_children();
	put_sample(t, 100, PER_CHILD * CHILDREN + 1, 0x1000);
	uint64_t late = drops_of(t, true, 0);
	EXPECT_INT(late + 2, drops_of(recording_of_children(), true, 0)); /* its fork and its exit; the mapping made a module that others need */
}
