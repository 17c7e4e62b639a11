#include "unwind/stack_memory.h"

#include "unit.h"

static const struct unwind_frame whole[] = {
	{ .pc = 0x1000, .cfa = 0x7f00 }, { .pc = 0x2000, .cfa = 0x7f40 }, { .pc = 0x3000, .cfa = 0x7f80 }, { .pc = 0x4000 },
};

/* What is left of the same stack, deeper: its outermost call is the second of `whole`. */
static const struct unwind_frame cut[8] = { { .pc = 0x5000, .cfa = 0x7f00 }, { .pc = 0x2000, .cfa = 0x7f40 } };

static size_t join_copy(const struct stack_memory *memory, int32_t tid, const struct unwind_frame from[static 8], size_t count,
	struct unwind_frame into[static 8])
{
	memcpy(into, from, 8 * sizeof *into);
	return stack_memory_join(memory, tid, into, count, 8);
}

TEST("a stack that was cut goes on as an earlier one of its thread did")
{
	struct stack_memory memory = { 0 };
	struct unwind_frame frames[8] = { { .pc = 0x5000, .cfa = 0x7e00 }, { .pc = 0x6000, .cfa = 0x7f00 }, { .pc = 0x2000, .cfa = 0x7f40 } };
	stack_memory_keep(&memory, 7, whole, 4, true);
	EXPECT_INT(stack_memory_join(&memory, 7, frames, 3, 4), 4);
	EXPECT_INT(stack_memory_join(&memory, 7, frames, 3, 8), 5);
	EXPECT_INT(frames[3].pc, 0x3000);
	EXPECT_INT(frames[3].cfa, 0x7f80);
	EXPECT_INT(frames[4].pc, 0x4000);
	stack_memory_fini(&memory);
}

TEST("stacks that were cut themselves lead on to one that was not")
{
	struct stack_memory memory = { 0 };
	struct unwind_frame frames[8], deeper[] = { { .pc = 0x5000, .cfa = 0x7e00 }, { .pc = 0x6000, .cfa = 0x7f00 },
		{ .pc = 0x2000, .cfa = 0x7f40 } };
	struct unwind_frame deepest[8] = { { .pc = 0x7000, .cfa = 0x7e00 }, { .pc = 0x6000, .cfa = 0x7f00 } };
	stack_memory_keep(&memory, 7, deeper, 3, false);
	EXPECT_INT(join_copy(&memory, 7, deepest, 2, frames), 2);
	stack_memory_keep(&memory, 7, whole, 4, true);
	EXPECT_INT(join_copy(&memory, 7, deepest, 2, frames), 5);
	EXPECT_INT(frames[4].pc, 0x4000);
	stack_memory_fini(&memory);
}

TEST("nothing is joined at another place of the stack, to another address, of another thread, or of one that ended")
{
	struct stack_memory memory = { 0 };
	struct unwind_frame frames[8], elsewhere[8] = { cut[0], { .pc = 0x2000, .cfa = 0x7f48 } };
	struct unwind_frame other[8] = { cut[0], { .pc = 0x2004, .cfa = 0x7f40 } }, placeless[8] = { cut[0], { .pc = 0x2000 } };
	EXPECT_INT(join_copy(&memory, 7, cut, 2, frames), 2);
	stack_memory_keep(&memory, 7, whole, 4, true);
	EXPECT_INT(join_copy(&memory, 7, elsewhere, 2, frames), 2);
	EXPECT_INT(join_copy(&memory, 7, other, 2, frames), 2);
	EXPECT_INT(join_copy(&memory, 7, placeless, 2, frames), 2);
	EXPECT_INT(join_copy(&memory, 8, cut, 2, frames), 2);
	EXPECT_INT(join_copy(&memory, 7, cut, 2, frames), 4);
	stack_memory_forget(&memory, 8);
	EXPECT_INT(join_copy(&memory, 7, cut, 2, frames), 4);
	stack_memory_forget(&memory, 7);
	EXPECT_INT(join_copy(&memory, 7, cut, 2, frames), 2);
	stack_memory_fini(&memory);
}

TEST("where samples do not agree on the caller, nothing is joined")
{
	struct stack_memory memory = { 0 };
	struct unwind_frame frames[8];
	struct unwind_frame callee[] = { { .pc = 0x1, .cfa = 0x7f00 }, { .pc = 0x9000, .cfa = 0x7f40 }, { .pc = 0x3004, .cfa = 0x7f80 },
		{ .pc = 0x4000 } };
	struct unwind_frame caller[] = { { .pc = 0x1, .cfa = 0x7f00 }, { .pc = 0x2000, .cfa = 0x7f40 }, { .pc = 0x3004, .cfa = 0x7f80 },
		{ .pc = 0x4000 } };
	stack_memory_keep(&memory, 7, whole, 4, true);
	stack_memory_keep(&memory, 7, callee, 4, true); /* another function at the place of one of them */
	EXPECT_INT(join_copy(&memory, 7, cut, 2, frames), 4);
	stack_memory_keep(&memory, 7, caller, 4, true);
	EXPECT_INT(join_copy(&memory, 7, cut, 2, frames), 2);
	stack_memory_fini(&memory);
}

TEST("what leads to another stack is not remembered")
{
	struct stack_memory memory = { 0 };
	struct unwind_frame frames[8], handler[] = { { .pc = 0x1, .cfa = 0x7f00 }, { .pc = 0x2000, .cfa = 0x7f40 },
		{ .pc = 0x3000, .cfa = 0x1000 }, { .pc = 0x4000, .cfa = 0x1040 }, { .pc = 0x5000 } };
	stack_memory_keep(&memory, 7, handler, 5, true);
	EXPECT_INT(join_copy(&memory, 7, cut, 2, frames), 2);
	stack_memory_fini(&memory);
}

TEST("what is remembered of a thread is bounded")
{
	struct stack_memory memory = { 0 };
	struct unwind_frame frames[64];
	for (uint64_t round = 0; round < 1000; round++) {
		for (uint64_t i = 0; i < 64; i++)
			frames[i] = (struct unwind_frame){ .pc = i, .cfa = 0x1000 + (round * 64 + i) * 16 };
		stack_memory_keep(&memory, 7, frames, 64, true);
		struct unwind_frame left[128] = { { .pc = 1, .cfa = frames[2].cfa }, { .pc = 3, .cfa = frames[3].cfa } };
		EXPECT_INT(stack_memory_join(&memory, 7, left, 2, 128), 62);
	}
	EXPECT(memory.calls <= STACK_MEMORY_CALLS);
	stack_memory_fini(&memory);
}
