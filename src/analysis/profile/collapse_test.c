#include "analysis/entry/texts.h"
#include "analysis/profile/collapse.h"
#include "analysis/profile/profile_test.h"

#include "unit.h"

/* No address is in a mapping: the source line of all is "??:0". */
static const struct profile_options samples = {
	.iteration = ITERATE_SAMPLES, .chain = { .mode = CHAIN_GRAPH, .order = CHAIN_CALLER },
};

static const char *row_text(const struct run *run, size_t row)
{
	const struct column *column = &run->columns.all.items[run->columns.sorts.items[run->columns.sorts.count - 1]];
	return collapse_text(&run->profile, entry_key(run->profile.folded.hists[0].entries[row], column));
}

TEST("rows of one source line are merged, regardless of their addresses")
{
	struct tape *r = recording_new();
	struct run run;
	SAMPLE(r, 1, 10, 0x3000, 0x1000);
	SAMPLE(r, 1, 20, 0x4000, 0x1000);
	SAMPLE(r, 1, 30, 0x4000, 0x2000);
	EXPECT(run_open(&run, r, "srcline", samples));
	EXPECT_INT(run.profile.folded.hists[0].count, 1);
	EXPECT_INT(run.profile.folded.hists[0].entries[0]->self.period, 30);
	EXPECT_INT(run.profile.folded.hists[0].entries[0]->self.count, 3);
	EXPECT_STR(row_text(&run, 0), "??:0");
	run_close(&run);
}

TEST("rows that differ in another column are not merged")
{
	struct tape *r = recording_new();
	struct run run;
	SAMPLE(r, 1, 10, 0x3000, 0x1000);
	SAMPLE(r, 2, 20, 0x3000, 0x1000);
	EXPECT(run_open(&run, r, "pid,srcline", samples));
	EXPECT_INT(run.profile.folded.hists[0].count, 2);
	run_close(&run);
}

TEST("merged rows have one call tree: chains of the same addresses are merged in it")
{
	struct tape *r = recording_new();
	struct run run;
	SAMPLE(r, 1, 10, 0x3000, 0x1000);
	SAMPLE(r, 1, 20, 0x4000, 0x1000);
	EXPECT(run_open(&run, r, "srcline", samples));
	const struct chain_tree *tree = run.profile.folded.hists[0].entries[0]->chain;
	EXPECT(tree != NULL);
	EXPECT_INT(tree->nodes[0].child_count, 1);
	const struct chain_node *trunk = &tree->nodes[tree->order[tree->nodes[0].first_child]];
	EXPECT_INT(trunk->place_count, 1);
	EXPECT_INT(trunk->children_hit, 20);
	EXPECT_INT(trunk->child_count, 2);
	run_close(&run);
}
