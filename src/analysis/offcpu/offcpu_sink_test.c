#include "analysis/offcpu/offcpu_sink.h"

#include "tape.h"
#include "unit.h"

enum { OFF = 1, ON = 2 };

struct waits {
	struct tape *tape;
	struct session session;
	struct offcpu_rows rows;
};

static void add_event(struct tape *t, uint64_t id, const char *name)
{
	const struct attr attr = { .type = ATTR_SOFTWARE, .config = id, .flags = 1ull << ATTR_SAMPLE_ID_ALL,
		.sample_type = SAMPLE_IDENTIFIER | SAMPLE_TID | SAMPLE_TIME | SAMPLE_PERIOD | SAMPLE_RAW };
	evlist_add(&t->source.header.evlist, &attr, &id, 1, name);
}

static struct waits *waits_new(void)
{
	struct waits *w = calloc(1, sizeof *w);
	w->tape = tape_new();
	add_event(w->tape, OFF, OFF_CPU_EVENT);
	add_event(w->tape, ON, "cycles");
	return w;
}

static void put_wait(struct waits *w, uint64_t id, uint32_t tid, uint64_t ns, const void *raw, uint32_t size)
{
	put_head(w->tape, RECORD_SAMPLE, RECORD_MISC_USER, 32 + 4 + size);
	put_u64(w->tape, id);
	put_ids(w->tape, tid);
	put_u64(w->tape, 1000);
	put_u64(w->tape, ns);
	put(w->tape, &size, 4);
	put(w->tape, raw, size);
}

/* A wait with details; its size is that of a RAW payload: a multiple of 8 with the word before it. */
static void put_detailed(struct waits *w, uint32_t tid, uint64_t ns, struct off_cpu_raw raw)
{
	struct {
		struct off_cpu_raw raw;
		uint32_t pad;
	} body = { .raw = raw };
	body.raw.magic = body.raw.magic ? body.raw.magic : OFF_CPU_MAGIC;
	put_wait(w, OFF, tid, ns, &body, sizeof raw + 4);
}

static void run(struct waits *w, enum offcpu_group group)
{
	const struct session_options options = { .threads = 1, .keep_exited = true };
	EXPECT(session_open(&w->session, &w->tape->source, &options, NULL) == 0);
	struct symbols *symbols = symbols_new(&w->session.model.modules, &(struct symbols_options){ 0 });
	offcpu_init(&w->rows, &(struct offcpu_options){ .symbols = symbols, .group = group, .max_stack = 127 });
	const struct sink sink = offcpu_sink(&w->rows);
	EXPECT(session_run(&w->session, &sink, NULL) == 0);
	offcpu_finish(&w->rows);
	symbols_free(symbols);
}

static void waits_free(struct waits *w)
{
	offcpu_fini(&w->rows);
	session_close(&w->session);
	free(w);
}

TEST("waits add up by thread: time, number, the longest one, states; the largest sum comes first")
{
	struct waits *w = waits_new();
	put_detailed(w, 7, 100, (struct off_cpu_raw){ .count = 4, .max_ns = 60, .state = 1 });
	put_detailed(w, 8, 500, (struct off_cpu_raw){ .count = 1, .max_ns = 500, .state = 2 });
	put_detailed(w, 7, 50, (struct off_cpu_raw){ .count = 1, .max_ns = 50, .state = 2 });
	put_wait(w, ON, 7, 9000, (uint32_t[]){ 0 }, 4);
	run(w, OFFCPU_BY_THREAD);
	EXPECT_INT(w->rows.total_ns, 650);
	EXPECT_INT(w->rows.count, 6);
	EXPECT_INT(w->rows.samples, 3);
	EXPECT_INT(w->rows.list.count, 2);
	const struct offcpu_row *first = &w->rows.list.items[0], *second = &w->rows.list.items[1];
	EXPECT_INT(first->tid, 8);
	EXPECT_INT(second->tid, 7);
	EXPECT_INT(second->total_ns, 150);
	EXPECT_INT(second->count, 5);
	EXPECT_INT(second->max_ns, 60);
	EXPECT_INT(second->state, 3);
	EXPECT_INT(second->reason, WAIT_UNKNOWN);
	waits_free(w);
}

TEST("samples of perf, which have no details, count as one wait each")
{
	struct waits *w = waits_new();
	put_wait(w, OFF, 7, 100, (uint32_t[]){ 0 }, 4);
	put_detailed(w, 7, 30, (struct off_cpu_raw){ .magic = OFF_CPU_MAGIC + 1, .count = 40, .max_ns = 5, .state = 1 });
	run(w, OFFCPU_BY_STACK);
	EXPECT_INT(w->rows.list.count, 1);
	EXPECT_INT(w->rows.list.items[0].count, 2);
	EXPECT_INT(w->rows.list.items[0].max_ns, 100);
	EXPECT_INT(w->rows.list.items[0].state, 0);
	waits_free(w);
}

TEST("futexes of one process add up by address, and have their holder")
{
	struct waits *w = waits_new();
	put_detailed(w, 7, 100, (struct off_cpu_raw){ .count = 1, .max_ns = 100, .state = 1, .futex = 0x5000, .holder = 9 });
	put_detailed(w, 7, 20, (struct off_cpu_raw){ .count = 1, .max_ns = 20, .state = 1, .futex = 0x5004 });
	put_detailed(w, 7, 30, (struct off_cpu_raw){ .count = 1, .max_ns = 30, .state = 1, .futex = 0x5000 });
	run(w, OFFCPU_BY_FUTEX);
	EXPECT_INT(w->rows.list.count, 2);
	EXPECT_INT(w->rows.list.items[0].futex, 0x5000);
	EXPECT_INT(w->rows.list.items[0].total_ns, 130);
	EXPECT_INT(w->rows.list.items[0].holder, 9);
	EXPECT_INT(w->rows.list.items[1].holder, 0);
	waits_free(w);
}

TEST("a waker's chain that is longer than its record, and a name without its end, stay within the record")
{
	struct waits *w = waits_new();
	struct off_cpu_raw raw = { .count = 1, .max_ns = 100, .state = 1, .waker = 9, .waker_frames = 0xffffffff };
	memset(raw.waker_comm, 'w', sizeof raw.waker_comm);
	put_detailed(w, 7, 100, raw);
	run(w, OFFCPU_BY_STACK);
	EXPECT_INT(w->rows.list.count, 1);
	EXPECT_STR(w->rows.list.items[0].waker, "wwwwwwwwwwwwwww");
	waits_free(w);
}

TEST("a waker's registers and stack that contradict the event or end behind the record are ignored")
{
	static const uint64_t tails[][2] = { { 5, 8 }, { 0, UINT64_MAX }, { 0, 9 }, { 0, 0 }, { UINT64_MAX / 8 + 1, 0 } };
	struct waits *w = waits_new();
	for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
		struct {
			struct off_cpu_raw raw;
			uint64_t tail[3];
			uint32_t pad;
		} body = { .raw = { .magic = OFF_CPU_MAGIC, .count = 1, .max_ns = 10, .state = 1, .waker = 9, .waker_comm = "w" },
			.tail = { tails[i][0], tails[i][1] } };
		put_wait(w, OFF, 7, 10, &body, offsetof(typeof(body), pad) + 4);
	}
	run(w, OFFCPU_BY_STACK);
	EXPECT_INT(w->rows.list.count, 1);
	EXPECT_INT(w->rows.list.items[0].count, sizeof tails / sizeof *tails);
	EXPECT_STR(w->rows.list.items[0].waker, "w");
	waits_free(w);
}
