#include "analysis/stack/branch_history.h"

#include "data/evlist.h"
#include "tape.h"
#include "unit.h"

enum { PREDICTED = 2, ABORT = 8, CYCLES_10 = 10 << 4, TYPE_COND = 1 << 20 };

/* The branch history of the last sample. */
struct seen {
	size_t count;
	uint64_t addresses[64], marks[64];
};

static void record_history(void *context, const struct resolved *r, size_t slice)
{
	struct seen *seen = context;
	const struct location *frames[300];
	uint64_t marks[300];
	bool damaged;
	EXPECT(history_wanted(r, 127));
	seen->count = history_frames(r, CHAIN_INNERMOST_FIRST, 127, frames, marks, &damaged);
	for (size_t i = 0; i < seen->count && i < 64; i++) {
		seen->addresses[i] = frames[i]->address;
		seen->marks[i] = marks[i];
	}
}

static struct seen history_of_branches(const struct branch_entry *branches, uint64_t count, const uint64_t *chain, uint64_t chain_count)
{
	struct tape *tape = tape_new();
	struct seen seen = { 0 };
	struct session session;
	struct sink sink = { .context = &seen, .record = record_history, .serial = true };
	struct session_options options = { .threads = 1 };
	struct attr attr = { .type = ATTR_SOFTWARE, .sample_period = 1, .branch_sample_type = BRANCH_ANY,
			     .sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_CALLCHAIN | SAMPLE_BRANCH_STACK };
	uint32_t ids[2] = { 1, 1 };
	uint64_t ip = 0x1000;
	evlist_add(&tape->source.header.evlist, &attr, NULL, 0, "cpu-clock");
	put_head(tape, RECORD_SAMPLE, RECORD_MISC_USER, 16 + 8 + chain_count * 8 + 8 + count * sizeof *branches);
	put(tape, &ip, 8);
	put(tape, ids, 8);
	put(tape, &chain_count, 8);
	put(tape, chain, chain_count * 8);
	put(tape, &count, 8);
	for (uint64_t i = 0; i < count; i++) {
		struct branch_entry recorded = branches[i];
		recorded.flags = branch_flags_encode(recorded.flags);
		put(tape, &recorded, sizeof recorded);
	}
	EXPECT(session_open(&session, &tape->source, &options, NULL) == 0);
	EXPECT(session_run(&session, &sink, NULL) == 0);
	session_close(&session);
	return seen;
}

TEST("branches precede the callers, and a call that is also a branch appears once")
{
	static const struct branch_entry branches[] = { { 0x2000, 0x3000, PREDICTED }, { 0x4ffc, 0x1f00, CYCLES_10 } };
	static const uint64_t chain[] = { CONTEXT_USER, 0x5000, 0x6000, 0x7000, 0x8000 };
	struct seen seen = history_of_branches(branches, 2, chain, 5);
	static const uint64_t expected[] = { 0x3000, 0x2000, 0x1f00, 0x4ffc, 0x6000 };
	/* the context marker and the call are omitted at one end, as many entries as there are branches at the other */
	EXPECT_INT(seen.count, 5);
	for (size_t i = 0; i < 5 && i < seen.count; i++)
		EXPECT_INT(seen.addresses[i], expected[i]);
	EXPECT(seen.marks[0] && seen.marks[3] && !seen.marks[4]);
}

TEST("the iterations of a loop are merged and counted")
{
	static const struct branch_entry branches[] = {
		{ 0x2000, 0x1000, CYCLES_10 }, { 0x2000, 0x1000, CYCLES_10 }, { 0x2000, 0x1000, CYCLES_10 }, { 0x9000, 0x1000, 0 },
	};
	struct seen seen = history_of_branches(branches, 4, NULL, 0);
	struct branch_marks marks = { 0 };
	EXPECT(seen.count < 8);
	for (size_t i = 0; i < seen.count; i++)
		branch_marks_add(&marks, seen.marks[i], 1, i);
	EXPECT(marks.iterations > 0);
}

TEST("branch marks are summed up over samples, except for the first sample at a source")
{
	static const struct branch_entry branch = { 0x2000, 0x3000, PREDICTED | ABORT | CYCLES_10 | TYPE_COND };
	struct seen seen = history_of_branches(&branch, 1, NULL, 0);
	struct branch_marks to = { 0 }, from = { 0 };
	branch_marks_add(&to, seen.marks[0], 3, 5);
	branch_marks_add(&from, seen.marks[1], 3, 5);
	branch_marks_finish(&from, seen.marks[1]);
	EXPECT(to.target && to.branches == 3 && to.predicted == 3 && to.aborts == 3 && to.forward && to.types == 2);
	EXPECT(!from.target && from.branches == 3 && from.cycles == 30 && from.from == 2);
	/* one frame as target and source: the latest sample decides, in any order of additions */
	struct branch_marks both = { 0 };
	branch_marks_add(&both, seen.marks[0], 1, 7);
	branch_marks_add(&both, seen.marks[1], 1, 6);
	EXPECT(both.target && both.branches == 2);
	branch_marks_add(&both, seen.marks[1], 1, 8);
	EXPECT(!both.target && both.branches == 3);
}
