#include "session/trace_stack.h"

#include <stdlib.h>
#include <string.h>

#include "abi/record.h"
#include "base/memory.h"
#include "session/trace.h"

enum {
	FRAMES_MAX = 1 << 20,
	SEARCH_MAX = 1 << 14,    /* frames that a return may skip: the search of hostile returns is bounded */
	ROOM_MAX = 1 << 22,      /* frames of all stacks */
};

/* What calls and never returns, as longjmp makes functions do, would fill the stack. */
static void drop_outer_half(struct trace_stack *stack)
{
	size_t rest = stack->frames.count / 2;
	memmove(stack->frames.items, stack->frames.items + stack->frames.count - rest, rest * sizeof *stack->frames.items);
	stack->frames.count = rest;
	stack->untraced = stack->untraced < rest ? stack->untraced : rest;
}

static void push(struct trace_stack *stack, uint64_t address, bool untraced)
{
	if (stack->frames.count == FRAMES_MAX)
		drop_outer_half(stack);
	vec_push(&stack->frames, address);
	stack->untraced = untraced ? stack->untraced + 1 : 0;
}

/* Returns to an address that no frame has, as after longjmp, change nothing. */
static void pop(struct trace_stack *stack, uint64_t address)
{
	size_t last = stack->frames.count > SEARCH_MAX ? stack->frames.count - SEARCH_MAX : 0;
	for (size_t i = stack->frames.count; i-- > last;) {
		if (stack->frames.items[i] != address)
			continue;
		size_t popped = stack->frames.count - i;
		stack->frames.count = i;
		stack->untraced = stack->untraced > popped ? stack->untraced - popped : 0;
		return;
	}
}

void trace_stack_branch(struct trace_stack *stack, uint32_t flags, uint64_t from, uint64_t to, uint32_t size)
{
	if (flags & TRACE_CALL) {
		if (to && from + size != to) /* a call of the next instruction reads its own address */
			push(stack, from + size, flags & TRACE_END);
	} else if (flags & TRACE_BEGIN) {
		stack->frames.count -= stack->untraced;
		stack->untraced = 0;
	} else if (flags & TRACE_RETURN && from && to) {
		pop(stack, to);
	}
}

static uint64_t context_of(uint64_t ip)
{
	return ip >> 63 ? CONTEXT_KERNEL : CONTEXT_USER;
}

/* Appends the outermost `frames` frames of the stack, without the first ones of them. */
static size_t add_frames(const struct trace_stack *stack, size_t first, size_t frames, uint64_t context, uint64_t *words, size_t count,
	size_t most)
{
	for (size_t i = frames; i-- > first && count < most; count++) {
		uint64_t frame = stack->frames.items[i];
		if (context_of(frame) != context) {
			if (count + 1 >= most)
				break;
			words[count++] = context = context_of(frame);
		}
		words[count] = frame;
	}
	return count;
}

size_t trace_stack_excess(const struct trace_stack *stack)
{
	enum { STEP = 2000, LEAST = TRACE_STACK_CHAIN_MAX - STEP };
	return stack->frames.count <= TRACE_STACK_CHAIN_MAX ? 0 : (stack->frames.count - LEAST) / STEP * STEP;
}

size_t trace_stack_chain(const struct trace_stack *stack, uint64_t ip, size_t outermost, uint64_t *words, size_t most)
{
	words[0] = context_of(ip);
	words[1] = ip;
	return add_frames(stack, outermost, stack->frames.count, words[0], words, 2, most);
}

size_t trace_stack_late_chain(const struct trace_stack *stack, uint64_t ip, uint64_t *words, size_t most)
{
	size_t frames = stack->frames.count;
	while (frames && context_of(stack->frames.items[frames - 1]) == CONTEXT_KERNEL && stack->frames.items[frames - 1] != ip)
		frames--;
	size_t count = add_frames(stack, 0, frames, 0, words, 0, most);
	return count ? count : trace_stack_chain(stack, ip, 0, words, 2);
}

void trace_stack_fini(struct trace_stack *stack)
{
	vec_fini(&stack->frames);
	free(stack->branches);
}

struct trace_stack *trace_stacks_get(struct trace_stacks *stacks, int32_t tid)
{
	bool added;
	uint32_t index = idmap_add(&stacks->of_thread, (uint32_t)tid, (uint32_t)stacks->list.count, &added);
	if (added)
		vec_push(&stacks->list, (struct trace_stack *)memory_zero(1, sizeof(struct trace_stack)));
	return stacks->list.items[index];
}

void trace_stacks_branch(struct trace_stacks *stacks, struct trace_stack *stack, uint32_t flags, uint64_t from, uint64_t to, uint32_t size)
{
	size_t before = stack->frames.capacity;
	if (stacks->branches_max) {
		if (!stack->branches)
			stack->branches = memory_zero(stacks->branches_max, sizeof *stack->branches);
		stack->branches[stack->branch_count++ % stacks->branches_max] = (struct trace_branch){ from, to, flags };
	}
	size_t frames = stack->frames.count;
	trace_stack_branch(stack, flags, from, to, size);
	stacks->cut += frames == FRAMES_MAX && stack->frames.count == frames / 2 + 1;
	stacks->room += stack->frames.capacity - before;
	if (stacks->room <= ROOM_MAX)
		return;
	for (size_t i = 0; i < stacks->list.count; i++) {
		vec_fini(&stacks->list.items[i]->frames);
		stacks->list.items[i]->untraced = 0;
	}
	stacks->room = 0;
	stacks->cut++;
}

void trace_stacks_exec(struct trace_stacks *stacks, int32_t tid)
{
	uint32_t index = idmap_get(&stacks->of_thread, (uint32_t)tid);
	if (index != IDMAP_NONE)
		stacks->list.items[index]->frames.count = stacks->list.items[index]->untraced = 0;
}

void trace_stacks_fini(struct trace_stacks *stacks)
{
	for (size_t i = 0; i < stacks->list.count; i++) {
		trace_stack_fini(stacks->list.items[i]);
		free(stacks->list.items[i]);
	}
	vec_fini(&stacks->list);
	idmap_fini(&stacks->of_thread);
}
