#include "analysis/profile.h"

#include <stdlib.h>

#include "analysis/hist.h"
#include "unit.h"

/* A recording in memory: one event, ip, tid, time, chain. */
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
	struct recording *r = memory_zero(1, sizeof *r);
	struct attr attr = { .type = ATTR_SOFTWARE, .sample_period = 10, .sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CALLCHAIN };
	r->source.ops = &ops;
	evlist_add(&r->source.header.evlist, &attr, NULL, 0, "cpu-clock");
	return r;
}

static void put(struct recording *r, const void *data, size_t size)
{
	vec_reserve(&r->bytes, r->bytes.count + size);
	memcpy(r->bytes.items + r->bytes.count, data, size);
	r->bytes.count += size;
}

/* Innermost first; the chain's first frame is the sample's own address. */
static void put_sample(struct recording *r, uint32_t tid, uint64_t time, const uint64_t *frames, uint64_t count)
{
	uint32_t type = RECORD_SAMPLE;
	uint16_t misc = RECORD_MISC_USER, size = (uint16_t)(8 + 8 * (4 + 1 + count));
	uint64_t chain_count = count + 1, marker = CONTEXT_USER;
	put(r, &type, 4);
	put(r, &misc, 2);
	put(r, &size, 2);
	put(r, &frames[0], 8);
	put(r, (uint32_t[]){ tid, tid }, 8);
	put(r, &time, 8);
	put(r, &chain_count, 8);
	put(r, &marker, 8);
	put(r, frames, count * 8);
}

#define SAMPLE(r, tid, time, ...) \
	put_sample(r, tid, time, (uint64_t[]){ __VA_ARGS__ }, sizeof((uint64_t[]){ __VA_ARGS__ }) / 8)

/* A whole run. */
struct run {
	struct session session;
	struct symbols *symbols;
	struct columns columns;
	struct profile profile;
};

static void run_open(struct run *run, struct recording *recording, const char *sort, struct profile_options options)
{
	struct session_options session = { .threads = 2 };
	struct column_request request = { .sort = sort, .children = options.iteration == ITERATE_CALLERS };
	*run = (struct run){ 0 };
	EXPECT(session_open(&run->session, &recording->source, &session, NULL) == 0);
	EXPECT(columns_setup(&run->columns, &request, NULL) == 0);
	run->symbols = symbols_new(&run->session.model.modules, &(struct symbols_options){ .no_kernel_lookup = true });
	options.columns = &run->columns;
	options.use_chains = true;
	options.max_stack = 127;
	options.socket_filter = -1;
	options.switch_on = options.switch_off = UINT32_MAX;
	EXPECT(profile_open(&run->profile, &options, &run->session, run->symbols, NULL) == 0);
	struct sink sink = profile_sink(&run->profile);
	EXPECT(session_run(&run->session, &sink, NULL) == 0);
	EXPECT(profile_finish(&run->profile, NULL) == 0);
}

static void run_close(struct run *run)
{
	profile_close(&run->profile);
	columns_fini(&run->columns);
	symbols_free(run->symbols);
	session_close(&run->session);
}

static const struct entry *entry_at_ip(const struct run *run, uint64_t ip)
{
	const struct hist *hist = &run->profile.hists[0];
	for (size_t i = 0; i < hist->count; i++)
		if (entry_place(&run->profile, hist->entries[i])->ip == ip)
			return hist->entries[i];
	return NULL;
}

static const struct profile_options callers = {
	.iteration = ITERATE_CALLERS, .chain = { .mode = CHAIN_GRAPH, .order = CHAIN_CALLER },
};

TEST("a caller counts what it called, once for each sample even where it calls itself")
{
	struct recording *r = recording_new();
	struct run run;
	SAMPLE(r, 1, 10, 0x3000, 0x2000, 0x1000);
	SAMPLE(r, 1, 20, 0x3000, 0x2000, 0x2000, 0x1000);
	SAMPLE(r, 1, 30, 0x2000, 0x1000);
	run_open(&run, r, "sym", callers);
	EXPECT_INT(entry_at_ip(&run, 0x1000)->children_period, 30);
	EXPECT_INT(entry_at_ip(&run, 0x1000)->self.period, 0);
	EXPECT_INT(entry_at_ip(&run, 0x2000)->children_period, 30);
	EXPECT_INT(entry_at_ip(&run, 0x2000)->self.period, 10);
	EXPECT_INT(entry_at_ip(&run, 0x3000)->self.period, 20);
	EXPECT_INT(run.profile.hists[0].total_period, 30);
	EXPECT_INT(run.profile.hists[0].samples, 3);
	run_close(&run);
}

TEST("a caller's chains start at its outermost frame, those of its own samples at the root")
{
	struct recording *r = recording_new();
	struct run run;
	SAMPLE(r, 1, 10, 0x3000, 0x2000, 0x2000, 0x1000);
	SAMPLE(r, 1, 20, 0x2000, 0x1000);
	run_open(&run, r, "sym", callers);
	const struct chain_tree *tree = entry_at_ip(&run, 0x2000)->chain;
	EXPECT(tree != NULL);
	EXPECT_INT(tree->nodes[0].child_count, 2);
	const struct chain_node *one = &tree->nodes[tree->order[tree->nodes[0].first_child]];
	const struct chain_node *other = &tree->nodes[tree->order[tree->nodes[0].first_child + 1]];
	EXPECT_INT(one->place_count + other->place_count, 3 + 2);
	EXPECT_INT(chain_total(one), 10);
	EXPECT_INT(chain_total(other), 10);
	run_close(&run);
}

TEST("a chain's frames stand in one node until chains part or one ends")
{
	struct recording *r = recording_new();
	struct run run;
	struct profile_options options = { .iteration = ITERATE_SAMPLES, .chain = { .mode = CHAIN_GRAPH, .order = CHAIN_CALLER } };
	SAMPLE(r, 1, 10, 0x9000, 0x4000, 0x3000, 0x2000, 0x1000);
	SAMPLE(r, 1, 20, 0x9000, 0x5000, 0x3000, 0x2000, 0x1000);
	SAMPLE(r, 1, 30, 0x9000, 0x5000, 0x3000, 0x2000, 0x1000);
	run_open(&run, r, "sym", options);
	const struct chain_tree *tree = entry_at_ip(&run, 0x9000)->chain;
	const struct chain_node *trunk = &tree->nodes[tree->order[tree->nodes[0].first_child]];
	EXPECT_INT(trunk->place_count, 3);
	EXPECT_INT(trunk->children_hit, 30);
	EXPECT_INT(trunk->child_count, 2);
	EXPECT_INT(chain_total(&tree->nodes[tree->order[trunk->first_child]]), 20);
	run_close(&run);
}

TEST("callee order turns the chains round")
{
	struct recording *r = recording_new();
	struct run run;
	struct profile_options options = { .iteration = ITERATE_SAMPLES, .chain = { .mode = CHAIN_GRAPH, .order = CHAIN_CALLEE } };
	SAMPLE(r, 1, 10, 0x3000, 0x2000, 0x1000);
	SAMPLE(r, 1, 20, 0x3000, 0x2000, 0x1000);
	run_open(&run, r, "sym", options);
	const struct chain_tree *tree = entry_at_ip(&run, 0x3000)->chain;
	const struct chain_node *node = &tree->nodes[tree->order[tree->nodes[0].first_child]];
	EXPECT_INT(node->place_count, 3);
	EXPECT_INT(stacks_place_at(&run.profile.stacks, tree->places[node->first_place])->ip, 0x3000);
	EXPECT_INT(node->hit, 20);
	EXPECT_INT(node->count, 2);
	run_close(&run);
}

TEST("branches below the threshold are not shown, but part the chain")
{
	struct recording *r = recording_new();
	struct run run;
	struct profile_options options = { .iteration = ITERATE_SAMPLES,
		.chain = { .mode = CHAIN_GRAPH, .order = CHAIN_CALLER, .min_percent = 20 } };
	for (int i = 0; i < 9; i++)
		SAMPLE(r, 1, (uint64_t)i + 1, 0x9000, 0x2000, 0x1000);
	SAMPLE(r, 1, 10, 0x9000, 0x3000, 0x1000);
	run_open(&run, r, "sym", options);
	const struct chain_tree *tree = entry_at_ip(&run, 0x9000)->chain;
	const struct chain_node *trunk = &tree->nodes[tree->order[tree->nodes[0].first_child]];
	EXPECT_INT(trunk->place_count, 1);
	EXPECT_INT(trunk->child_count, 1);
	EXPECT_INT(trunk->children_hit, 100);
	run_close(&run);
}

TEST("two workers give what one would, whatever the slices")
{
	struct recording *r = recording_new();
	struct run run;
	for (uint64_t i = 0; i < 5000; i++)
		SAMPLE(r, (uint32_t)(i % 7), i + 1, 0x3000 + i % 3, 0x2000, 0x1000 + i % 2);
	run_open(&run, r, "sym", callers);
	EXPECT_INT(entry_at_ip(&run, 0x2000)->children_period, 50000);
	EXPECT_INT(entry_at_ip(&run, 0x1000)->children_period, 25000);
	EXPECT_INT(entry_at_ip(&run, 0x3000)->self.count, 1667);
	EXPECT_INT(run.profile.hists[0].count, 6);
	run_close(&run);
}
