#include "analysis/profile/profile_test.h"

#include "unit.h"

static const struct entry *entry_at_ip(const struct run *run, uint64_t ip)
{
	const struct hist *hist = &run->profile.folded.hists[0];
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
	struct tape *r = recording_new();
	struct run run;
	SAMPLE(r, 1, 10, 0x3000, 0x2000, 0x1000);
	SAMPLE(r, 1, 20, 0x3000, 0x2000, 0x2000, 0x1000);
	SAMPLE(r, 1, 30, 0x2000, 0x1000);
	EXPECT(run_open(&run, r, "sym", callers));
	EXPECT_INT(entry_at_ip(&run, 0x1000)->children_period, 30);
	EXPECT_INT(entry_at_ip(&run, 0x1000)->self.period, 0);
	EXPECT_INT(entry_at_ip(&run, 0x2000)->children_period, 30);
	EXPECT_INT(entry_at_ip(&run, 0x2000)->self.period, 10);
	EXPECT_INT(entry_at_ip(&run, 0x3000)->self.period, 20);
	EXPECT_INT(run.profile.folded.hists[0].total_period, 30);
	EXPECT_INT(run.profile.folded.hists[0].samples, 3);
	run_close(&run);
}

TEST("a caller's chains start at its outermost frame, those of its own samples at the root")
{
	struct tape *r = recording_new();
	struct run run;
	SAMPLE(r, 1, 10, 0x3000, 0x2000, 0x2000, 0x1000);
	SAMPLE(r, 1, 20, 0x2000, 0x1000);
	EXPECT(run_open(&run, r, "sym", callers));
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

TEST("frames of a chain are in one node until chains diverge or one ends")
{
	struct tape *r = recording_new();
	struct run run;
	struct profile_options options = { .iteration = ITERATE_SAMPLES, .chain = { .mode = CHAIN_GRAPH, .order = CHAIN_CALLER } };
	SAMPLE(r, 1, 10, 0x9000, 0x4000, 0x3000, 0x2000, 0x1000);
	SAMPLE(r, 1, 20, 0x9000, 0x5000, 0x3000, 0x2000, 0x1000);
	SAMPLE(r, 1, 30, 0x9000, 0x5000, 0x3000, 0x2000, 0x1000);
	EXPECT(run_open(&run, r, "sym", options));
	const struct chain_tree *tree = entry_at_ip(&run, 0x9000)->chain;
	const struct chain_node *trunk = &tree->nodes[tree->order[tree->nodes[0].first_child]];
	EXPECT_INT(trunk->place_count, 3);
	EXPECT_INT(trunk->children_hit, 30);
	EXPECT_INT(trunk->child_count, 2);
	EXPECT_INT(chain_total(&tree->nodes[tree->order[trunk->first_child]]), 20);
	run_close(&run);
}

TEST("callee order reverses the chains")
{
	struct tape *r = recording_new();
	struct run run;
	struct profile_options options = { .iteration = ITERATE_SAMPLES, .chain = { .mode = CHAIN_GRAPH, .order = CHAIN_CALLEE } };
	SAMPLE(r, 1, 10, 0x3000, 0x2000, 0x1000);
	SAMPLE(r, 1, 20, 0x3000, 0x2000, 0x1000);
	EXPECT(run_open(&run, r, "sym", options));
	const struct chain_tree *tree = entry_at_ip(&run, 0x3000)->chain;
	const struct chain_node *node = &tree->nodes[tree->order[tree->nodes[0].first_child]];
	EXPECT_INT(node->place_count, 3);
	EXPECT_INT(stacks_place_at(run.profile.collected.stacks, tree->places[node->first_place])->ip, 0x3000);
	EXPECT_INT(node->hit, 20);
	EXPECT_INT(node->count, 2);
	run_close(&run);
}

TEST("branches below the threshold are hidden, but split the chain")
{
	struct tape *r = recording_new();
	struct run run;
	struct profile_options options = { .iteration = ITERATE_SAMPLES,
		.chain = { .mode = CHAIN_GRAPH, .order = CHAIN_CALLER, .min_percent = 20 } };
	for (int i = 0; i < 9; i++)
		SAMPLE(r, 1, (uint64_t)i + 1, 0x9000, 0x2000, 0x1000);
	SAMPLE(r, 1, 10, 0x9000, 0x3000, 0x1000);
	EXPECT(run_open(&run, r, "sym", options));
	const struct chain_tree *tree = entry_at_ip(&run, 0x9000)->chain;
	const struct chain_node *trunk = &tree->nodes[tree->order[tree->nodes[0].first_child]];
	EXPECT_INT(trunk->place_count, 1);
	EXPECT_INT(trunk->child_count, 1);
	EXPECT_INT(trunk->children_hit, 100);
	run_close(&run);
}

TEST("five workers have the result of one")
{
	struct tape *r = recording_new();
	struct run run;
	for (uint64_t i = 0; i < 5000; i++)
		SAMPLE(r, (uint32_t)(i % 7), i + 1, 0x3000 + i % 3, 0x2000, 0x1000 + i % 2);
	EXPECT(run_open(&run, r, "sym", callers));
	EXPECT_INT(entry_at_ip(&run, 0x2000)->children_period, 50000);
	EXPECT_INT(entry_at_ip(&run, 0x1000)->children_period, 25000);
	EXPECT_INT(entry_at_ip(&run, 0x3000)->self.count, 1667);
	EXPECT_INT(run.profile.folded.hists[0].count, 6);
	run_close(&run);
}

TEST("five workers make the chains of a large sample key: each entry has its own samples and those of its callees")
{
	enum { LEAVES = 5000 };
	struct tape *r = recording_new();
	struct run run;
	unsigned bad = 0;
	for (uint64_t i = 0; i < 2 * LEAVES; i++)
		SAMPLE(r, 1, i + 1, 0x100000 + i % LEAVES * 16, 0x2000 + i % 2 * 16, 0x1000);
	EXPECT(run_open(&run, r, "sym", callers));
	for (uint64_t i = 0; i < LEAVES; i++) {
		const struct entry *entry = entry_at_ip(&run, 0x100000 + i * 16);
		bad += !entry || !entry->chain || entry->self.count != 2 || chain_total(&entry->chain->nodes[0]) != 20;
	}
	EXPECT_INT(bad, 0);
	const struct chain_tree *tree = entry_at_ip(&run, 0x2000)->chain;
	const struct chain_node *trunk = &tree->nodes[tree->order[tree->nodes[0].first_child]];
	EXPECT_INT(chain_total(trunk), 10 * LEAVES);
	EXPECT_INT(trunk->child_count, LEAVES / 2);
	run_close(&run);
}

TEST("additions that several workers logged are in the order of clocks")
{
	struct tape *r = recording_new();
	struct run run;
	unsigned bad = 0;
	for (uint64_t i = 0; i < 50000; i++)
		SAMPLE(r, 1, i + 1, i % 3 ? 0x1000 : 0xffff000000001000);
	EXPECT(run_open(&run, r, "sym", (struct profile_options){ .iteration = ITERATE_SAMPLES }));
	const struct collected *collected = &run.profile.collected;
	EXPECT_INT(collected->log_count, 50000);
	for (size_t i = 0; i < collected->log_count; i++)
		bad += collected->log[i].clock != i + 1 || collected->log[i].tally != collected->log[i % 3 ? 1 : 0].tally;
	EXPECT_INT(bad, 0);
	run_close(&run);
}

/* Makes a preview after each batch. */
struct previewed {
	struct profile *profile;
	struct sink sink;
	uint64_t samples[8], self[8], children[8]; /* by preview: of all; of the entry at 0x3000 itself; of 0x1000 with what it called */
	unsigned count;
};

static void take_preview(void *context, struct session *session, size_t slices)
{
	struct previewed *seen = context;
	struct profile preview;
	seen->sink.batch_end(seen->sink.context, session, slices);
	profile_preview(seen->profile, &preview);
	const struct hist *hist = &preview.folded.hists[0];
	for (size_t i = 0; i < hist->count && seen->count < 8; i++) {
		uint64_t ip = entry_place(&preview, hist->entries[i])->ip;
		if (ip == 0x3000)
			seen->self[seen->count] = hist->entries[i]->self.period;
		if (ip == 0x1000)
			seen->children[seen->count] = hist->entries[i]->children_period;
	}
	if (seen->count < 8)
		seen->samples[seen->count++] = hist->samples;
	profile_close(&preview);
}

static void pass_record(void *context, const struct resolved *r, size_t slice)
{
	const struct previewed *seen = context;
	seen->sink.record(seen->sink.context, r, slice);
}

TEST("previews have the samples read so far, and leave the result as it is")
{
	enum { SAMPLES = 40000 };
	struct tape *r = recording_new();
	struct run run;
	for (uint64_t i = 0; i < SAMPLES; i++)
		SAMPLE(r, 1, 10 + i, 0x3000, 0x2000 + (i % 5) * 16, 0x1000);
	EXPECT(run_setup(&run, r, "sym", callers));
	struct previewed seen = { .profile = &run.profile, .sink = profile_sink(&run.profile) };
	struct sink sink = { .context = &seen, .record = pass_record, .batch_end = take_preview };
	EXPECT_INT(session_run(&run.session, &sink, NULL), 0);
	profile_finish(&run.profile);
	EXPECT(seen.count >= 2 && seen.samples[0] > 0 && seen.samples[0] < SAMPLES);
	EXPECT_INT(seen.samples[seen.count - 1], SAMPLES);
	for (unsigned i = 0; i < seen.count; i++) {
		EXPECT_INT(seen.self[i], 10 * seen.samples[i]);
		EXPECT_INT(seen.children[i], 10 * seen.samples[i]);
	}
	EXPECT_INT(entry_at_ip(&run, 0x1000)->children_period, 10 * SAMPLES);
	EXPECT_INT(entry_at_ip(&run, 0x3000)->self.period, 10 * SAMPLES);
	EXPECT_INT(run.profile.folded.hists[0].samples, SAMPLES);
	run_close(&run);
}

TEST("an event that never samples does not make a profile serial")
{
	struct tape *r = recording_new();
	struct attr dummy = { .type = ATTR_SOFTWARE, .config = 9, .sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME };
	struct attr other = { .type = ATTR_SOFTWARE, .sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME };
	struct run run;
	evlist_add(&r->source.header.evlist, &dummy, NULL, 0, "dummy:u");
	EXPECT(run_setup(&run, r, NULL, (struct profile_options){ .iteration = ITERATE_CALLERS }));
	EXPECT(!profile_needs_order(&run.profile));
	evlist_add(&r->source.header.evlist, &other, NULL, 0, "cpu-clock");
	EXPECT(profile_needs_order(&run.profile));
	run_close(&run);
}

TEST("the account of a profile counts a row for each frame of each stack, and the memory for it")
{
	struct tape *r = recording_new();
	struct run run;
	size_t before, rows = 0;
	for (uint64_t i = 1; i <= 300; i++)
		SAMPLE(r, 1, i, 0x100000 * i, 0x100000 * i, 0x200000 * i + 16, 0x300000 * i + 32);
	EXPECT(run_setup(&run, r, "sym", callers));
	struct sink sink = profile_sink(&run.profile);
	before = sink.ahead(sink.context);
	EXPECT_INT(session_run(&run.session, &sink, NULL), 0);
	size_t ahead = sink.ahead(sink.context);
	profile_finish(&run.profile);
	rows = run.profile.folded.hists[0].count;
	EXPECT_INT(rows, 900);
	EXPECT_INT(run.profile.collected.frames, 1200);
	EXPECT(ahead - before >= rows * sizeof(struct entry));
	EXPECT(ahead - before < 8 * rows * sizeof(struct entry));
	EXPECT_INT(run.session.counters.left_out_chains, 0);
	run_close(&run);
}
