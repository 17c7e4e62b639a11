#include "session/trace_stack.h"

#include <string.h>

#include "abi/record.h"
#include "session/trace.h"
#include "unit.h"

enum { CALL = TRACE_BRANCH | TRACE_CALL, RETURN = TRACE_BRANCH | TRACE_RETURN };

static void expect_chain(const struct trace_stack *stack, uint64_t ip, size_t most, const uint64_t *want, size_t count)
{
	uint64_t words[16];
	EXPECT_INT(trace_stack_chain(stack, ip, 0, words, most), count);
	for (size_t i = 0; i < count; i++)
		EXPECT_INT(words[i], want[i]);
}
#define CHAIN(stack, ip, most, ...) \
	expect_chain(stack, ip, most, (uint64_t[]){ __VA_ARGS__ }, sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

TEST("calls and returns make the chain of an address, with a marker where the mode changes")
{
	struct trace_stack stack = { 0 };
	trace_stack_branch(&stack, CALL, 0x1000, 0x2000, 5);
	trace_stack_branch(&stack, CALL, 0x2008, 0xffffffff81000000, 2);
	CHAIN(&stack, 0xffffffff81000004, 16, CONTEXT_KERNEL, 0xffffffff81000004, CONTEXT_USER, 0x200a, 0x1005);
	trace_stack_branch(&stack, RETURN, 0xffffffff81000008, 0x200a, 1);
	CHAIN(&stack, 0x200a, 16, CONTEXT_USER, 0x200a, 0x1005);
	trace_stack_branch(&stack, TRACE_BRANCH, 0x200a, 0x3000, 2); /* a jump */
	CHAIN(&stack, 0x3000, 16, CONTEXT_USER, 0x3000, 0x1005);
	trace_stack_fini(&stack);
}

TEST("a chain ends at its limit, and not with a marker")
{
	struct trace_stack stack = { 0 };
	trace_stack_branch(&stack, CALL, 0x1000, 0x2000, 5);
	trace_stack_branch(&stack, CALL, 0x2000, 0x3000, 5);
	CHAIN(&stack, 0x3000, 3, CONTEXT_USER, 0x3000, 0x2005);
	CHAIN(&stack, 0xffffffff81000000, 3, CONTEXT_KERNEL, 0xffffffff81000000);
	trace_stack_fini(&stack);
}

TEST("a return that skips frames drops them; one to an unknown address drops none")
{
	struct trace_stack stack = { 0 };
	trace_stack_branch(&stack, CALL, 0x1000, 0x2000, 5);
	trace_stack_branch(&stack, CALL, 0x2000, 0x3000, 5);
	trace_stack_branch(&stack, RETURN, 0x3000, 0x9999, 1);
	EXPECT_INT(stack.frames.count, 2);
	trace_stack_branch(&stack, RETURN, 0x3000, 0x1005, 1);
	EXPECT_INT(stack.frames.count, 0);
	trace_stack_fini(&stack);
}

TEST("a call of the next instruction is none")
{
	struct trace_stack stack = { 0 };
	trace_stack_branch(&stack, CALL, 0x1000, 0x1005, 5);
	EXPECT_INT(stack.frames.count, 0);
	trace_stack_fini(&stack);
}

TEST("calls out of the trace are undone where it begins again")
{
	struct trace_stack stack = { 0 };
	trace_stack_branch(&stack, CALL, 0x1000, 0x2000, 5);
	trace_stack_branch(&stack, CALL | TRACE_END, 0x2000, 0x3000, 5);
	EXPECT_INT(stack.frames.count, 2);
	trace_stack_branch(&stack, TRACE_BRANCH | TRACE_BEGIN, 0, 0x2005, 0);
	EXPECT_INT(stack.frames.count, 1);
	trace_stack_fini(&stack);
}

TEST("each thread has a stack of its own, and the memory of all is bounded")
{
	enum { THREADS = 12, CALLS = 600000 };
	struct trace_stacks stacks = { 0 };
	struct trace_stack *first = trace_stacks_get(&stacks, 1);
	trace_stacks_branch(&stacks, first, CALL, 0x1000, 0x2000, 5);
	EXPECT(trace_stacks_get(&stacks, 2) != first);
	EXPECT_INT(trace_stacks_get(&stacks, 1)->frames.count, 1);
	size_t most = 0;
	for (int32_t tid = 2; tid < THREADS; tid++) {
		struct trace_stack *stack = trace_stacks_get(&stacks, tid);
		for (unsigned i = 0; i < CALLS; i++)
			trace_stacks_branch(&stacks, stack, CALL, 0x1000, 0x2000, 5);
		size_t room = 0;
		for (size_t i = 0; i < stacks.list.count; i++)
			room += stacks.list.items[i]->frames.capacity;
		EXPECT_INT(room, stacks.room);
		most = room > most ? room : most;
	}
	EXPECT(most > CALLS && most <= 1 << 22);
	EXPECT_INT(first->frames.count, 0); /* all became empty */
	trace_stacks_fini(&stacks);
}

TEST("a return finds its frame below 16,383 others, and no further")
{
	enum { SEARCHED = 1 << 14 };
	struct trace_stack stack = { 0 };
	trace_stack_branch(&stack, CALL, 0x1000, 0x2000, 5);
	for (unsigned i = 0; i < SEARCHED; i++)
		trace_stack_branch(&stack, CALL, 0x2000, 0x2000, 5);
	trace_stack_branch(&stack, RETURN, 0x2000, 0x1005, 1);
	EXPECT_INT(stack.frames.count, SEARCHED + 1);
	trace_stack_branch(&stack, RETURN, 0x2000, 0x2005, 1);
	trace_stack_branch(&stack, RETURN, 0x2000, 0x1005, 1);
	EXPECT_INT(stack.frames.count, 0);
	trace_stack_fini(&stack);
}

TEST("a chain that is too deep for a record begins at a frame that many others begin at, too")
{
	enum { DEEP = 30000, ROOM = 8000, ALL = 7500, LEAST = 5500 };
	static uint64_t words[ROOM];
	struct trace_stack stack = { 0 };
	size_t before = 0, changes = 0;
	for (uint64_t i = 1; i <= DEEP; i++) {
		trace_stack_branch(&stack, CALL, i, DEEP + i, 5);
		size_t excess = trace_stack_excess(&stack);
		changes += excess != before;
		before = excess;
		EXPECT(i <= ALL ? excess == 0 : i - excess >= LEAST && i - excess <= ALL);
	}
	EXPECT(changes < DEEP / 1000);
	size_t count = trace_stack_chain(&stack, 77, before, words, ROOM);
	EXPECT_INT(count, 2 + DEEP - before);
	EXPECT_INT(words[2], DEEP + 5);
	EXPECT_INT(words[count - 1], before + 1 + 5);
	trace_stack_fini(&stack);
}

TEST("a stack that nothing returns to loses its outer half, and goes on")
{
	enum { MOST = 1 << 20 };
	struct trace_stacks stacks = { 0 };
	struct trace_stack *stack = trace_stacks_get(&stacks, 1);
	for (uint64_t i = 0; i <= MOST; i++)
		trace_stacks_branch(&stacks, stack, CALL, 0x1000 + i, 8, 5);
	EXPECT_INT(stack->frames.count, MOST / 2 + 1);
	EXPECT_INT(stack->frames.items[MOST / 2], 0x1000 + MOST + 5);
	EXPECT_INT(stack->frames.items[0], 0x1000 + MOST / 2 + 5);
	EXPECT_INT(stacks.cut, 1);
	trace_stacks_fini(&stacks);
}

TEST("a program that another one replaces has no callers; those of other threads remain")
{
	struct trace_stacks stacks = { 0 };
	trace_stacks_branch(&stacks, trace_stacks_get(&stacks, 1), CALL, 0x1000, 0x2000, 5);
	trace_stacks_branch(&stacks, trace_stacks_get(&stacks, 2), CALL, 0x1000, 0x2000, 5);
	trace_stacks_exec(&stacks, 1);
	trace_stacks_exec(&stacks, 3);
	EXPECT_INT(trace_stacks_get(&stacks, 1)->frames.count, 0);
	EXPECT_INT(trace_stacks_get(&stacks, 2)->frames.count, 1);
	trace_stacks_fini(&stacks);
}

TEST("the last branches are a ring for each thread, and outlive a reset of the frames")
{
	struct trace_stacks stacks = { .branches_max = 3 };
	struct trace_stack *stack = trace_stacks_get(&stacks, 7);
	for (uint64_t i = 0; i < 5; i++)
		trace_stacks_branch(&stacks, stack, TRACE_BRANCH, i, i + 100, 1);
	EXPECT_INT(stack->branch_count, 5);
	EXPECT_INT(stack->branches[(stack->branch_count - 1) % 3].from, 4);
	EXPECT_INT(stack->branches[(stack->branch_count - 3) % 3].to, 102);
	EXPECT(!trace_stacks_get(&stacks, 8)->branches);
	trace_stacks_fini(&stacks);
}

TEST("the chain of a sample that was recorded late")
{
	enum { ROOM = 16 };
	static const uint64_t user[] = { CONTEXT_USER, 0x2004, 0x1004 };
	const uint64_t kernel = 0xffffffff81000000;
	struct trace_stack stack = { 0 };
	uint64_t words[ROOM];
	EXPECT_INT(trace_stack_late_chain(&stack, 0x1000, words, ROOM), 2);
	EXPECT(words[0] == CONTEXT_USER && words[1] == 0x1000);
	trace_stack_branch(&stack, TRACE_CALL, 0x1000, 0x2000, 4);
	trace_stack_branch(&stack, TRACE_CALL, 0x2000, 0x3000, 4);
	trace_stack_branch(&stack, TRACE_CALL, kernel, kernel + 64, 4);
	EXPECT_INT(trace_stack_late_chain(&stack, 0x3000, words, ROOM), 3);
	EXPECT(memcmp(words, user, sizeof user) == 0);
	EXPECT_INT(trace_stack_late_chain(&stack, 0x3000, words, 2), 2);
	EXPECT_INT(trace_stack_late_chain(&stack, kernel + 4, words, ROOM), 5);
	EXPECT(words[0] == CONTEXT_KERNEL && words[1] == kernel + 4 && memcmp(words + 2, user, sizeof user) == 0);
	EXPECT_INT(trace_stack_late_chain(&stack, kernel + 5, words, ROOM), 3);
	trace_stack_fini(&stack);
}
