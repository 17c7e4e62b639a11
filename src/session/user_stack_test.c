#include "session/user_stack.h"
#include "session/session.h"

#include "session/test_stack.h"

struct seen {
	uint64_t chains[8][8];
	size_t counts[8], samples, plain;
	enum chain_direction direction;
	size_t limit;
};

static void see(void *context, const struct resolved *r, size_t slice)
{
	struct seen *seen = context;
	struct chain chain = resolved_chain(r, seen->direction, seen->limit);
	seen->plain += resolved_chain_is_plain(r);
	for (size_t i = 0; i < chain.count && i < 8; i++)
		seen->chains[seen->samples][i] = chain.frames[i]->address;
	seen->counts[seen->samples++] = chain.count;
}

static struct unwind_tally run(struct stack_recording *made, struct seen *seen, bool join)
{
	struct session session;
	struct image_options images = { 0 };
	struct session_options options = { .threads = 1, .images = &images, .join_stacks = join };
	struct sink sink = { .context = seen, .record = see, .serial = true };
	EXPECT(session_open(&session, &made->tape->source, &options, NULL) == 0);
	EXPECT(session_run(&session, &sink, NULL) == 0);
	struct unwind_tally tally = session.counters.unwind;
	session_close(&session);
	unlink(made->path);
	return tally;
}

TEST("a recorded user stack is unwound after the kernel part; callers are looked up within their calls")
{
	struct stack_recording made;
	struct seen seen = { .limit = 127 };
	if (!stack_recording_make(&made))
		return;
	put_whole_stack(&made, 3);
	struct unwind_tally tally = run(&made, &seen, false);
	EXPECT_INT(seen.counts[0], 4);
	EXPECT(seen.chains[0][0] == 0xffffffff81000010 && seen.chains[0][1] == made.code + 0x18);
	EXPECT(seen.chains[0][2] == made.code + 0x4f && seen.chains[0][3] == made.code + 0x87);
	EXPECT(tally.stacks == 1 && tally.ends[UNWIND_COMPLETE] == 1 && seen.plain == 0);
}

/* A sample of the same event that the recorder unwound: no registers, a stack of 0 bytes. */
static void put_chain(struct tape *r, uint64_t time, uint64_t ip, uint64_t caller)
{
	const uint64_t chain[] = { (uint64_t)CONTEXT_KERNEL, 0xffffffff81000010, (uint64_t)CONTEXT_USER, ip, caller };
	put_head(r, RECORD_SAMPLE, RECORD_MISC_KERNEL, 32 + sizeof chain + 8 + 8);
	put_u64(r, ip);
	put_ids(r, TID);
	put_u64(r, time);
	put_u64(r, 5);
	put(r, chain, sizeof chain);
	put_u64(r, 0);
	put_u64(r, 0);
}

TEST("samples without a stack have their recorded chain, also beside unwound samples, and are not counted as unwound")
{
	for (unsigned join = 0; join < 2; join++) {
		struct stack_recording made;
		struct seen seen = { .limit = 127 };
		if (!stack_recording_make(&made))
			return;
		put_chain(made.tape, 3, made.code + 0x18, made.code + 0x50);
		put_whole_stack(&made, 4);
		put_chain(made.tape, 5, made.code + 0x48, made.code + 0x88);
		struct unwind_tally tally = run(&made, &seen, join);
		EXPECT(seen.samples == 3 && seen.plain == 2);
		EXPECT(seen.counts[0] == 3 && seen.counts[1] == 4 && seen.counts[2] == 3);
		EXPECT(seen.chains[0][1] == made.code + 0x18 && seen.chains[0][2] == made.code + 0x50);
		EXPECT(seen.chains[1][2] == made.code + 0x4f && seen.chains[2][2] == made.code + 0x88);
		EXPECT(tally.stacks == 1 && tally.ends[UNWIND_COMPLETE] == 1 && !tally.ends[UNWIND_CUT] && !tally.guessed_stacks);
	}
}

TEST("outermost first, the user part precedes")
{
	struct stack_recording made;
	struct seen seen = { .limit = 127, .direction = CHAIN_OUTERMOST_FIRST };
	if (!stack_recording_make(&made))
		return;
	put_whole_stack(&made, 3);
	run(&made, &seen, false);
	EXPECT_INT(seen.counts[0], 4);
	EXPECT(seen.chains[0][0] == made.code + 0x87 && seen.chains[0][2] == made.code + 0x18);
	EXPECT(seen.chains[0][3] == 0xffffffff81000010);
}

TEST("the limit of frames applies to the kernel part, and once more to the user part")
{
	struct stack_recording made;
	struct seen seen = { .limit = 2 };
	if (!stack_recording_make(&made))
		return;
	put_whole_stack(&made, 3);
	run(&made, &seen, false);
	EXPECT_INT(seen.counts[0], 3); /* the one kernel frame, two of the three user frames */
}

TEST("a truncated stack ends in a frame without location, as in perf, and can be joined with an earlier one")
{
	for (unsigned join = 0; join < 2; join++) {
		struct stack_recording made;
		struct seen seen = { .limit = 127 };
		if (!stack_recording_make(&made))
			return;
		/* the same call of framed, once with its frame within the copied stack, once beyond it */
		uint64_t near[STACK_SIZE / 8] = { made.code + 0x50, [28] = 0, [29] = made.code + 0x88 };
		uint64_t far[STACK_SIZE / 8] = { made.code + 0x50 };
		put_stack_sample(made.tape, 3, made.code + 0x18, STACK_AT + 28 * 8, near);
		put_stack_sample(made.tape, 4, made.code + 0x18, STACK_AT + 0x1000, far);
		struct unwind_tally tally = run(&made, &seen, join);
		EXPECT_INT(tally.ends[UNWIND_CUT], 1);
		EXPECT_INT(tally.joined, 0); /* its frame has another address: another call */
		EXPECT_INT(seen.counts[1], 4);
		EXPECT(seen.chains[1][3] == UINT64_MAX);
	}
}

TEST("a process whose files are all missing is not unwound, as in perf")
{
	struct stack_recording made;
	struct seen seen = { .limit = 127 };
	if (!stack_recording_make(&made))
		return;
	put_whole_stack(&made, 3);
	unlink(made.path);
	struct unwind_tally tally = run(&made, &seen, false);
	EXPECT_INT(seen.counts[0], 1);
	EXPECT_INT(tally.stacks, 0);
}
