#include "analysis/flame_sink.h"

#include "tape.h"
#include "unit.h"

/* Events with the ids 10, 11 …; id|ip|tid|time|period|callchain, no files behind its mappings. */
static struct tape *recording_new(void)
{
	static const char *const names[] = { "first:u", "second" };
	struct tape *tape = tape_new();
	for (uint64_t i = 0; i < 2; i++) {
		struct attr attr = { .type = ATTR_SOFTWARE, .config = i, .sample_period = 1, .flags = 1ull << ATTR_SAMPLE_ID_ALL,
			.sample_type = SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_PERIOD | SAMPLE_CALLCHAIN };
		uint64_t id = 10 + i;
		evlist_add(&tape->source.header.evlist, &attr, &id, 1, names[i]);
	}
	return tape;
}

static void put_name(struct tape *tape, uint32_t tid, uint64_t time, const char name[static 8])
{
	put_comm(tape, tid, time, name, 8);
	put_u64(tape, 10);
}

/* chain: innermost first, 0 ends it. */
static void put_sample(struct tape *r, unsigned event, uint32_t tid, uint64_t time, uint64_t period, const uint64_t *chain)
{
	uint32_t ids[2] = { tid, tid };
	uint64_t id = 10 + event, count = 0;
	while (chain[count])
		count++;
	put_head(r, RECORD_SAMPLE, RECORD_MISC_USER, 48 + count * 8);
	put(r, &id, 8);
	put(r, chain, 8);
	put(r, ids, 8);
	put(r, &time, 8);
	put(r, &period, 8);
	put(r, &count, 8);
	put(r, chain, count * 8);
}

#define CHAIN(...) ((const uint64_t[]){ __VA_ARGS__, 0 })

/* "depth:name=weight/samples " per node. */
static const char *grown(struct tape *r, const struct flame_options *asked, struct flame_counts *counts)
{
	static char text[1024];
	struct session session;
	struct session_options session_options = { .threads = 2 };
	EXPECT(session_open(&session, &r->source, &session_options, NULL) == 0);
	struct symbols_options symbols_options = { .symfs = "/nowhere", .no_kernel_lookup = true };
	struct flame_options options = *asked;
	options.max_stack = options.max_stack ? options.max_stack : 100;
	options.symbols = symbols_new(&session.model.modules, &symbols_options);
	struct flame_sink *flame = flame_sink_new(&options, session_workers(&session));
	struct sink sink = flame_sink_of(flame);
	EXPECT(session_run(&session, &sink, NULL) == 0);
	struct flame_builder builder;
	struct flame_tree tree;
	flame_builder_init(&builder);
	*counts = flame_sink_finish(flame, &session, &builder);
	flame_tree_make(&tree, &builder, 0);
	text[0] = '\0';
	for (uint32_t i = 0; i < tree.count; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%u:%s=%llu/%llu ", tree.nodes[i].depth,
			tree.frames[tree.nodes[i].frame].name, (unsigned long long)tree.nodes[i].weight,
			(unsigned long long)tree.nodes[i].samples);
	flame_tree_fini(&tree);
	flame_builder_fini(&builder);
	flame_sink_free(flame);
	symbols_free(options.symbols);
	session_close(&session);
	return text;
}

TEST("a flame graph is of the first event that has samples, in whatever order they come")
{
	struct tape *r = recording_new();
	struct flame_counts counts;
	put_name(r, 5, 1, "program");
	put_sample(r, 1, 5, 2, 1000, CHAIN(0x10));
	put_sample(r, 0, 5, 3, 7, CHAIN(0x10));
	put_sample(r, 1, 5, 4, 1000, CHAIN(0x10));
	EXPECT_STR(grown(r, &(struct flame_options){ 0 }, &counts), "0:all=7/1 1:program=7/1 2:[unknown]=7/1 ");
	EXPECT_INT(counts.event, 0);
	EXPECT_INT(counts.samples, 1);
	EXPECT_INT(counts.other_events, 2);
	r = recording_new();
	put_sample(r, 1, 5, 2, 1000, CHAIN(0x10));
	EXPECT_STR(grown(r, &(struct flame_options){ .roots = FLAME_ROOT_NONE }, &counts), "0:all=1000/1 1:[unknown]=1000/1 ");
	EXPECT_INT(counts.event, 1);
}

TEST("an event is chosen by its name, with or without modifiers")
{
	struct flame_counts counts;
	for (int turn = 0; turn < 2; turn++) {
		struct tape *r = recording_new();
		put_sample(r, 0, 5, 2, 3, CHAIN(0x10));
		put_sample(r, 1, 5, 3, 4, CHAIN(0x10));
		struct flame_options options = { .event = turn ? "second" : "first", .roots = FLAME_ROOT_NONE };
		EXPECT_STR(grown(r, &options, &counts), turn ? "0:all=4/1 1:[unknown]=4/1 " : "0:all=3/1 1:[unknown]=3/1 ");
	}
	EXPECT(flame_event_matches("cycles", "cycles:ppp"));
	EXPECT(flame_event_matches("sched:sched_switch", "sched:sched_switch"));
	EXPECT(!flame_event_matches("sched", "sched:sched_switch"));
	EXPECT(!flame_event_matches("cycle", "cycles"));
}

TEST("a period of nothing counts as one event")
{
	struct tape *r = recording_new();
	struct flame_counts counts;
	put_sample(r, 0, 5, 2, 0, CHAIN(0x10));
	put_sample(r, 0, 5, 3, 5, CHAIN(0x10));
	EXPECT_STR(grown(r, &(struct flame_options){ .roots = FLAME_ROOT_NONE }, &counts), "0:all=6/2 1:[unknown]=6/2 ");
}

TEST("weighed by time, a sample counts what passed since its thread's previous one")
{
	struct tape *r = recording_new();
	struct flame_counts counts;
	put_name(r, 5, 1, "a\0\0\0\0\0\0");
	put_name(r, 6, 1, "b\0\0\0\0\0\0");
	put_sample(r, 0, 5, 100, 1, CHAIN(0x10));
	put_sample(r, 0, 6, 150, 1, CHAIN(0x10));
	put_sample(r, 0, 5, 1100, 1, CHAIN(0x10));
	put_sample(r, 0, 6, 1155, 1, CHAIN(0x10, 0x20));
	struct flame_options options = { .weigh = FLAME_BY_TIME };
	EXPECT_STR(grown(r, &options, &counts),
		"0:all=2005/4 1:a=1000/2 2:[unknown]=1000/2 1:b=1005/2 2:[unknown]=1005/2 3:[unknown]=1005/1 ");
}

TEST("a thread without a name stands under its number, and roots can tell process and thread")
{
	struct flame_counts counts;
	static const struct { enum flame_roots roots; const char *text; } cases[] = {
		{ FLAME_ROOT_COMM, "0:all=2/2 1::6=1/1 2:[unknown]=1/1 1:pro ram=1/1 2:[unknown]=1/1 " },
		{ FLAME_ROOT_PID, "0:all=2/2 1::6-6=1/1 2:[unknown]=1/1 1:pro ram-5=1/1 2:[unknown]=1/1 " },
		{ FLAME_ROOT_TID, "0:all=2/2 1::6-6/6=1/1 2:[unknown]=1/1 1:pro ram-5/5=1/1 2:[unknown]=1/1 " },
	};
	for (unsigned i = 0; i < 3; i++) {
		struct tape *r = recording_new();
		put_name(r, 5, 1, "pro ram");
		put_sample(r, 0, 5, 2, 1, CHAIN(0x10));
		put_sample(r, 0, 6, 3, 1, CHAIN(0x10));
		EXPECT_STR(grown(r, &(struct flame_options){ .roots = cases[i].roots }, &counts), cases[i].text);
	}
}

TEST("the innermost frames are kept of a stack that is too deep, and all where it is turned around")
{
	struct tape *r = recording_new();
	struct flame_counts counts;
	put_name(r, 5, 1, "program");
	put_sample(r, 0, 5, 2, 1, CHAIN(0x10, 0x20, 0x30, 0x40));
	EXPECT_STR(grown(r, &(struct flame_options){ .max_stack = 2, .reverse = true }, &counts),
		"0:all=1/1 1:[unknown]=1/1 2:[unknown]=1/1 3:program=1/1 ");
}

TEST("filters keep samples out and count them")
{
	struct tape *r = recording_new();
	struct flame_counts counts;
	struct name_list *tids;
	EXPECT(number_list_open(&tids, "6", NULL) == 0);
	put_sample(r, 0, 5, 2, 1, CHAIN(0x10));
	put_sample(r, 0, 6, 3, 1, CHAIN(0x10));
	put_sample(r, 0, 7, 4, 1, CHAIN(0x10));
	struct flame_options options = { .filter = { .tids = tids }, .roots = FLAME_ROOT_NONE };
	EXPECT_STR(grown(r, &options, &counts), "0:all=1/1 1:[unknown]=1/1 ");
	EXPECT_INT(counts.filtered, 2);
	name_list_close(tids);
}
