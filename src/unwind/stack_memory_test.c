#include "unwind/stack_memory.h"

#include "unit.h"

enum { FRAMES = 16, FRAME = 32, AT = 0x7000 };

/* A stack of FRAMES frames of equal size, whole or truncated; `content` is stored in each frame. */
struct stack {
	struct unwind_frame frames[2 * FRAMES];
	uint64_t bytes[FRAMES * FRAME / 8];
	struct stack_copy copy;
	size_t count;
};

/* Frames first … first + count of those that lead to the bottom; the innermost one runs elsewhere. */
static struct stack stack_of(unsigned first, unsigned count, uint64_t content)
{
	struct stack s = { .count = count };
	for (unsigned i = 0; i < count; i++)
		s.frames[i] = (struct unwind_frame){ .pc = i ? 0x1000 + first + i : 0x9000, .cfa = AT + (first + i) * FRAME };
	for (size_t i = 0; i < sizeof s.bytes / 8; i++)
		s.bytes[i] = content + i;
	return s;
}

static void set_copy(struct stack *s, unsigned first)
{
	uint64_t from = first ? (first - 1) * FRAME : 0;
	s->copy = (struct stack_copy){ AT + from, { (const uint8_t *)s->bytes + from, (s->count - 1) * FRAME } };
}

static void keep(struct stack_memory *memory, int32_t tid, struct stack s, unsigned first, bool whole)
{
	set_copy(&s, first);
	stack_memory_keep(memory, tid, s.frames, s.count, s.count, whole, &s.copy);
}

/* The stack after joining. */
static struct stack join(const struct stack_memory *memory, int32_t tid, struct stack s, unsigned first)
{
	set_copy(&s, first);
	s.count = stack_memory_join(memory, tid, s.frames, s.count, sizeof s.frames / sizeof *s.frames, &s.copy);
	return s;
}

enum { CUT = STACK_MEMORY_OVERLAP + 2 };

TEST("a truncated stack is completed from an earlier one of its thread")
{
	struct stack_memory memory = { 0 };
	keep(&memory, 7, stack_of(0, FRAMES, 5), 0, true);
	struct stack s = join(&memory, 7, stack_of(1, CUT, 5), 1);
	EXPECT_INT(s.count, FRAMES - 1);
	EXPECT_INT(s.frames[CUT].pc, 0x1000 + CUT + 1);
	EXPECT_INT(s.frames[CUT].cfa, AT + (CUT + 1) * FRAME);
	EXPECT_INT(s.frames[FRAMES - 2].pc, 0x1000 + FRAMES - 1);
	stack_memory_fini(&memory);
}

TEST("a stack is joined only if enough frames have the same address, return address and bytes")
{
	struct stack_memory memory = { 0 };
	keep(&memory, 7, stack_of(0, FRAMES, 5), 0, true);
	EXPECT_INT(join(&memory, 7, stack_of(1, CUT - 1, 5), 1).count, CUT - 1);
	EXPECT_INT(join(&memory, 7, stack_of(1, CUT, 6), 1).count, CUT);
	struct stack s = stack_of(1, CUT, 5);
	s.bytes[(1 + CUT / 2) * FRAME / 8] ^= 1;
	EXPECT_INT(join(&memory, 7, s, 1).count, CUT);
	s = stack_of(1, CUT, 5);
	s.frames[1].pc++;
	EXPECT_INT(join(&memory, 7, s, 1).count, CUT);
	EXPECT_INT(join(&memory, 7, stack_of(1, CUT, 5), 1).count, FRAMES - 1);
	stack_memory_fini(&memory);
}

TEST("truncated stacks can be joined through others to a complete one")
{
	struct stack_memory memory = { 0 };
	keep(&memory, 7, stack_of(1, CUT + 2, 5), 1, false);
	EXPECT_INT(join(&memory, 7, stack_of(1, CUT, 5), 1).count, CUT);
	keep(&memory, 7, stack_of(3, FRAMES - 3, 5), 3, true);
	EXPECT_INT(join(&memory, 7, stack_of(1, CUT, 5), 1).count, FRAMES - 1);
	stack_memory_fini(&memory);
}

TEST("nothing is joined at another stack address, of another thread, or of one that ended")
{
	struct stack_memory memory = { 0 };
	struct stack cut = stack_of(1, CUT, 5), elsewhere = cut, placeless = cut;
	for (unsigned i = 0; i < CUT; i++)
		elsewhere.frames[i].cfa += 8;
	placeless.frames[CUT - 1].cfa = 0;
	EXPECT_INT(join(&memory, 7, cut, 1).count, CUT);
	keep(&memory, 7, stack_of(0, FRAMES, 5), 0, true);
	EXPECT_INT(join(&memory, 7, elsewhere, 1).count, CUT);
	EXPECT_INT(join(&memory, 7, placeless, 1).count, CUT);
	EXPECT_INT(join(&memory, 8, cut, 1).count, CUT);
	EXPECT_INT(join(&memory, 7, cut, 1).count, FRAMES - 1);
	stack_memory_forget(&memory, 8);
	EXPECT_INT(join(&memory, 7, cut, 1).count, FRAMES - 1);
	stack_memory_forget(&memory, 7);
	EXPECT_INT(join(&memory, 7, cut, 1).count, CUT);
	stack_memory_fini(&memory);
}

TEST("if samples disagree on the caller, nothing is joined")
{
	struct stack_memory memory = { 0 };
	struct stack caller = stack_of(0, FRAMES, 5);
	caller.frames[CUT + 1].pc = 0x3004;
	keep(&memory, 7, stack_of(0, FRAMES, 5), 0, true);
	EXPECT_INT(join(&memory, 7, stack_of(1, CUT, 5), 1).count, FRAMES - 1);
	keep(&memory, 7, caller, 0, true);
	EXPECT_INT(join(&memory, 7, stack_of(1, CUT, 5), 1).count, CUT);
	stack_memory_fini(&memory);
}

TEST("calls that lead to another stack are not stored")
{
	struct stack_memory memory = { 0 };
	struct stack handler = stack_of(0, FRAMES, 5);
	for (unsigned i = CUT + 1; i < FRAMES; i++)
		handler.frames[i].cfa -= 0x6000;
	keep(&memory, 7, handler, 0, true);
	EXPECT_INT(join(&memory, 7, stack_of(1, CUT, 5), 1).count, CUT);
	stack_memory_fini(&memory);
}

TEST("the memory of a thread is bounded")
{
	struct stack_memory memory = { 0 };
	for (uint64_t round = 0; round < 1000; round++) {
		struct stack s = stack_of(0, FRAMES, 5), cut = stack_of(1, CUT, 5);
		for (unsigned i = 0; i < FRAMES; i++)
			s.frames[i].pc += round * 0x100;
		for (unsigned i = 0; i < CUT; i++)
			cut.frames[i].pc += round * 0x100;
		keep(&memory, 7, s, 0, true);
		EXPECT_INT(join(&memory, 7, cut, 1).count, FRAMES - 1);
	}
	EXPECT(memory.calls <= STACK_MEMORY_CALLS);
	stack_memory_fini(&memory);
}
