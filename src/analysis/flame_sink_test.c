#include "analysis/flame_sink.h"

#include <stdlib.h>

#include "unit.h"

/* A recording in memory: events with the ids 10, 11 …; id|ip|tid|time|period|callchain, no files behind its mappings. */
struct recording {
	struct source source;
	VEC(uint8_t) bytes;
	size_t at;
};

static int recording_next(struct source *source, struct record *record, struct error *err)
{
	struct recording *r = (struct recording *)source;
	if (r->at >= r->bytes.count)
		return 0;
	const uint8_t *head = r->bytes.items + r->at;
	uint16_t misc, size;
	memcpy(&misc, head + 4, 2);
	memcpy(&size, head + 6, 2);
	*record = (struct record){ .type = load_u32(head), .misc = misc, .body = head + 8, .body_len = size - 8u, .offset = r->at };
	r->at += size;
	source->mark = r->at;
	return 1;
}

static void recording_release(struct source *source, uint64_t mark)
{
}

static void recording_close(struct source *source)
{
	struct recording *r = (struct recording *)source;
	evlist_fini(&source->header.evlist);
	vec_fini(&r->bytes);
	free(r);
}

static struct recording *recording_new(void)
{
	static const struct source_ops ops = { recording_next, recording_release, recording_close };
	static const char *const names[] = { "first:u", "second" };
	struct recording *r = memory_zero(1, sizeof *r);
	r->source.ops = &ops;
	for (uint64_t i = 0; i < 2; i++) {
		struct attr attr = { .type = ATTR_SOFTWARE, .config = i, .sample_period = 1, .flags = 1ull << ATTR_SAMPLE_ID_ALL,
			.sample_type = SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_PERIOD | SAMPLE_CALLCHAIN };
		uint64_t id = 10 + i;
		evlist_add(&r->source.header.evlist, &attr, &id, 1, names[i]);
	}
	return r;
}

static void put(struct recording *r, const void *data, size_t size)
{
	vec_reserve(&r->bytes, r->bytes.count + size);
	if (size)
		memcpy(r->bytes.items + r->bytes.count, data, size);
	r->bytes.count += size;
}

static void put_head(struct recording *r, uint32_t type, size_t body)
{
	uint16_t size = (uint16_t)(body + 8), misc = RECORD_MISC_USER;
	put(r, &type, 4);
	put(r, &misc, 2);
	put(r, &size, 2);
}

static void put_comm(struct recording *r, uint32_t tid, uint64_t time, const char name[static 8])
{
	uint32_t ids[2] = { tid, tid };
	uint64_t id = 10;
	put_head(r, RECORD_COMM, 40);
	put(r, ids, 8);
	put(r, name, 8);
	put(r, ids, 8);
	put(r, &time, 8);
	put(r, &id, 8);
}

/* chain: innermost first, 0 ends it. */
static void put_sample(struct recording *r, unsigned event, uint32_t tid, uint64_t time, uint64_t period, const uint64_t *chain)
{
	uint32_t ids[2] = { tid, tid };
	uint64_t id = 10 + event, count = 0;
	while (chain[count])
		count++;
	put_head(r, RECORD_SAMPLE, 48 + count * 8);
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
static const char *grown(struct recording *r, const struct flame_options *asked, struct flame_counts *counts)
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
	struct recording *r = recording_new();
	struct flame_counts counts;
	put_comm(r, 5, 1, "program");
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
		struct recording *r = recording_new();
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
	struct recording *r = recording_new();
	struct flame_counts counts;
	put_sample(r, 0, 5, 2, 0, CHAIN(0x10));
	put_sample(r, 0, 5, 3, 5, CHAIN(0x10));
	EXPECT_STR(grown(r, &(struct flame_options){ .roots = FLAME_ROOT_NONE }, &counts), "0:all=6/2 1:[unknown]=6/2 ");
}

TEST("weighed by time, a sample counts what passed since its thread's previous one")
{
	struct recording *r = recording_new();
	struct flame_counts counts;
	put_comm(r, 5, 1, "a\0\0\0\0\0\0");
	put_comm(r, 6, 1, "b\0\0\0\0\0\0");
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
		struct recording *r = recording_new();
		put_comm(r, 5, 1, "pro ram");
		put_sample(r, 0, 5, 2, 1, CHAIN(0x10));
		put_sample(r, 0, 6, 3, 1, CHAIN(0x10));
		EXPECT_STR(grown(r, &(struct flame_options){ .roots = cases[i].roots }, &counts), cases[i].text);
	}
}

TEST("the innermost frames are kept of a stack that is too deep, and all where it is turned around")
{
	struct recording *r = recording_new();
	struct flame_counts counts;
	put_comm(r, 5, 1, "program");
	put_sample(r, 0, 5, 2, 1, CHAIN(0x10, 0x20, 0x30, 0x40));
	EXPECT_STR(grown(r, &(struct flame_options){ .max_stack = 2, .reverse = true }, &counts),
		"0:all=1/1 1:[unknown]=1/1 2:[unknown]=1/1 3:program=1/1 ");
}

TEST("filters keep samples out and count them")
{
	struct recording *r = recording_new();
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
