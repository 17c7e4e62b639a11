#include "analysis/flame/flame_sink.h"

#include "tape.h"
#include "unit.h"

/* Events with the ids 10, 11; samples with id, ip, tid, time, period, callchain; mappings without files. */
static struct tape *flame_tape_new(void)
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

static void tape_put_comm(struct tape *tape, uint32_t tid, uint64_t time, const char name[static 8])
{
	put_comm(tape, tid, time, name, 8);
	put_u64(tape, 10);
}

/* chain: innermost first, terminated by 0. */
static void tape_put_sample(struct tape *r, unsigned event, uint32_t tid, uint64_t time, uint64_t period, const uint64_t *chain)
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

/* Returns "depth:name=weight/samples " for each node. */
static const char *flame_graph_text_by(unsigned threads, struct tape *r, const struct flame_options *asked, struct flame_counts *counts)
{
	static char text[1024];
	struct session session;
	struct session_options session_options = { .threads = threads };
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

static const char *flame_graph_text(struct tape *r, const struct flame_options *asked, struct flame_counts *counts)
{
	return flame_graph_text_by(2, r, asked, counts);
}

TEST("a flame graph shows the first event with samples, in any order of samples")
{
	struct tape *r = flame_tape_new();
	struct flame_counts counts;
	tape_put_comm(r, 5, 1, "program");
	tape_put_sample(r, 1, 5, 2, 1000, CHAIN(0x10));
	tape_put_sample(r, 0, 5, 3, 7, CHAIN(0x10));
	tape_put_sample(r, 1, 5, 4, 1000, CHAIN(0x10));
	EXPECT_STR(flame_graph_text(r, &(struct flame_options){ 0 }, &counts), "0:all=7/1 1:program=7/1 2:[unknown]=7/1 ");
	EXPECT_INT(counts.event, 0);
	EXPECT_INT(counts.samples, 1);
	EXPECT_INT(counts.other_events, 2);
	r = flame_tape_new();
	tape_put_sample(r, 1, 5, 2, 1000, CHAIN(0x10));
	EXPECT_STR(flame_graph_text(r, &(struct flame_options){ .roots = FLAME_ROOT_NONE }, &counts), "0:all=1000/1 1:[unknown]=1000/1 ");
	EXPECT_INT(counts.event, 1);
}

TEST("an event is selected by its name, with or without modifiers")
{
	struct flame_counts counts;
	for (int turn = 0; turn < 2; turn++) {
		struct tape *r = flame_tape_new();
		tape_put_sample(r, 0, 5, 2, 3, CHAIN(0x10));
		tape_put_sample(r, 1, 5, 3, 4, CHAIN(0x10));
		struct flame_options options = { .event = turn ? "second" : "first", .roots = FLAME_ROOT_NONE };
		EXPECT_STR(flame_graph_text(r, &options, &counts), turn ? "0:all=4/1 1:[unknown]=4/1 " : "0:all=3/1 1:[unknown]=3/1 ");
	}
	EXPECT(flame_event_matches("cycles", "cycles:ppp"));
	EXPECT(flame_event_matches("sched:sched_switch", "sched:sched_switch"));
	EXPECT(!flame_event_matches("sched", "sched:sched_switch"));
	EXPECT(!flame_event_matches("cycle", "cycles"));
}

TEST("a period of 0 counts as 1")
{
	struct tape *r = flame_tape_new();
	struct flame_counts counts;
	tape_put_sample(r, 0, 5, 2, 0, CHAIN(0x10));
	tape_put_sample(r, 0, 5, 3, 5, CHAIN(0x10));
	EXPECT_STR(flame_graph_text(r, &(struct flame_options){ .roots = FLAME_ROOT_NONE }, &counts), "0:all=6/2 1:[unknown]=6/2 ");
}

TEST("with weights by time, a sample counts the time since its thread's previous sample")
{
	struct tape *r = flame_tape_new();
	struct flame_counts counts;
	tape_put_comm(r, 5, 1, "a\0\0\0\0\0\0");
	tape_put_comm(r, 6, 1, "b\0\0\0\0\0\0");
	tape_put_sample(r, 0, 5, 100, 1, CHAIN(0x10));
	tape_put_sample(r, 0, 6, 150, 1, CHAIN(0x10));
	tape_put_sample(r, 0, 5, 1100, 1, CHAIN(0x10));
	tape_put_sample(r, 0, 6, 1155, 1, CHAIN(0x10, 0x20));
	struct flame_options options = { .weigh = FLAME_BY_TIME };
	EXPECT_STR(flame_graph_text(r, &options, &counts),
		"0:all=2005/4 1:a=1000/2 2:[unknown]=1000/2 1:b=1005/2 2:[unknown]=1005/2 3:[unknown]=1005/1 ");
}

TEST("a thread without a comm is shown by its tid, and roots can be processes or threads")
{
	struct flame_counts counts;
	static const struct { enum flame_roots roots; const char *text; } cases[] = {
		{ FLAME_ROOT_COMM, "0:all=2/2 1::6=1/1 2:[unknown]=1/1 1:pro ram=1/1 2:[unknown]=1/1 " },
		{ FLAME_ROOT_PID, "0:all=2/2 1::6-6=1/1 2:[unknown]=1/1 1:pro ram-5=1/1 2:[unknown]=1/1 " },
		{ FLAME_ROOT_TID, "0:all=2/2 1::6-6/6=1/1 2:[unknown]=1/1 1:pro ram-5/5=1/1 2:[unknown]=1/1 " },
	};
	for (unsigned i = 0; i < 3; i++) {
		struct tape *r = flame_tape_new();
		tape_put_comm(r, 5, 1, "pro ram");
		tape_put_sample(r, 0, 5, 2, 1, CHAIN(0x10));
		tape_put_sample(r, 0, 6, 3, 1, CHAIN(0x10));
		EXPECT_STR(flame_graph_text(r, &(struct flame_options){ .roots = cases[i].roots }, &counts), cases[i].text);
	}
}

TEST("a stack deeper than the limit is shown with its innermost frames")
{
	struct tape *r = flame_tape_new();
	struct flame_counts counts;
	tape_put_comm(r, 5, 1, "program");
	tape_put_sample(r, 0, 5, 2, 1, CHAIN(0x10, 0x20, 0x30, 0x40));
	EXPECT_STR(flame_graph_text(r, &(struct flame_options){ .max_stack = 2, .reverse = true }, &counts),
		"0:all=1/1 1:[unknown]=1/1 2:[unknown]=1/1 3:program=1/1 ");
}

TEST("filtered samples are counted but not shown")
{
	struct tape *r = flame_tape_new();
	struct flame_counts counts;
	struct name_list *tids;
	EXPECT(number_list_open(&tids, "6", NULL) == 0);
	tape_put_sample(r, 0, 5, 2, 1, CHAIN(0x10));
	tape_put_sample(r, 0, 6, 3, 1, CHAIN(0x10));
	tape_put_sample(r, 0, 7, 4, 1, CHAIN(0x10));
	struct flame_options options = { .filter = { .tids = tids }, .roots = FLAME_ROOT_NONE };
	EXPECT_STR(flame_graph_text(r, &options, &counts), "0:all=1/1 1:[unknown]=1/1 ");
	EXPECT_INT(counts.filtered, 2);
	name_list_close(tids);
}

/* 6000 samples, the i-th with period i: three tasks in turn, stacks of 1 to 4 frames, and one sample of an event that is not shown. */
static struct tape *tape_of_turns(void)
{
	struct tape *r = flame_tape_new();
	for (uint32_t task = 0; task < 3; task++)
		tape_put_comm(r, 5 + task, 1, (char[8]){ (char)('a' + task) });
	for (uint64_t i = 1; i <= 6000; i++)
		tape_put_sample(r, i == 5000, 5 + i % 3, 1 + i, i,
			CHAIN(0x10 + i % 4 * 0x100, i % 4 ? 0x20 : 0, i % 4 > 1 ? 0x30 : 0, i % 4 > 2 ? 0x40 : 0));
	return r;
}

TEST("stacks of several workers are merged into the graph of one")
{
	struct flame_counts counts;
	char one[1024];
	struct flame_options options = { 0 };
	for (int turn = 0; turn < 2; turn++, options.fold_recursion = true) {
		snprintf(one, sizeof one, "%s", flame_graph_text_by(1, tape_of_turns(), &options, &counts));
		EXPECT_INT(counts.samples, 5999);
		EXPECT(strncmp(one, "0:all=17998000/5999 1:a=6003000/2000 2:", 38) == 0); /* the sum from 1 to 6000 is 18003000 */
		for (unsigned threads = 2; threads < 7; threads++) {
			EXPECT_STR(flame_graph_text_by(threads, tape_of_turns(), &options, &counts), one);
			EXPECT_INT(counts.samples, 5999);
			EXPECT_INT(counts.other_events, 1);
		}
	}
}

TEST("names of tasks are folded in folded output only")
{
	for (int folded = 0; folded < 2; folded++) {
		struct tape *r = flame_tape_new();
		struct flame_counts counts;
		tape_put_comm(r, 5, 1, "a b;c\0\0");
		tape_put_sample(r, 0, 5, 2, 7, CHAIN(0x10));
		EXPECT_STR(flame_graph_text(r, &(struct flame_options){ .folded = folded }, &counts),
			folded ? "0:all=7/1 1:a_b:c=7/1 2:[unknown]=7/1 " : "0:all=7/1 1:a b;c=7/1 2:[unknown]=7/1 ");
	}
}
