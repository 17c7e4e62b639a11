#include "unwind/stack_memory.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"

/* What stands in next_place where there is no such place. */
enum { NEXT_BOTTOM = 1, NEXT_SEVERAL = 2 };

static struct stack_slot *slot_of(const struct stack_memory *memory, int32_t tid)
{
	return memory->slots ? &memory->slots[hash_u64((uint32_t)tid) & (STACK_MEMORY_THREADS - 1)] : NULL;
}

static void slot_clear(struct stack_memory *memory, struct stack_slot *slot)
{
	memory->calls -= slot->capacity;
	free(slot->calls);
	*slot = (struct stack_slot){ 0 };
}

void stack_memory_fini(struct stack_memory *memory)
{
	for (size_t i = 0; memory->slots && i < STACK_MEMORY_THREADS; i++)
		free(memory->slots[i].calls);
	free(memory->slots);
	*memory = (struct stack_memory){ 0 };
}

/* The call with this place and pc, or the free room for it. */
static struct stack_call *call_at(const struct stack_slot *slot, uint64_t place, uint64_t pc)
{
	size_t mask = slot->capacity - 1, at = (size_t)hash_pair(place, pc) & mask;
	while (slot->calls[at].place && (slot->calls[at].place != place || slot->calls[at].pc != pc))
		at = (at + 1) & mask;
	return &slot->calls[at];
}

/* Makes room for `more` calls: forgets those that are there where they would become too many. */
static void make_room(struct stack_memory *memory, struct stack_slot *slot, size_t more)
{
	size_t wanted = slot->count + more, capacity = slot->capacity ? slot->capacity : 64;
	if (wanted * 4 > (size_t)STACK_MEMORY_CALLS * 3)
		wanted = more;
	while (capacity * 3 < wanted * 4)
		capacity *= 2;
	if (wanted == more && slot->count) {
		memset(slot->calls, 0, slot->capacity * sizeof *slot->calls);
		slot->count = 0;
	}
	if (capacity <= slot->capacity)
		return;
	struct stack_slot old = *slot;
	slot->calls = memory_zero(capacity, sizeof *slot->calls);
	slot->capacity = (uint32_t)capacity;
	for (size_t i = 0; i < old.capacity; i++)
		if (old.calls[i].place)
			*call_at(slot, old.calls[i].place, old.calls[i].pc) = old.calls[i];
	memory->calls += capacity - old.capacity;
	free(old.calls);
}

static void keep_call(struct stack_slot *slot, const struct stack_call *call)
{
	struct stack_call *at = call_at(slot, call->place, call->pc);
	if (at->place && (at->next_place != call->next_place || at->next_pc != call->next_pc)) {
		at->next_place = NEXT_SEVERAL;
	} else if (!at->place) {
		slot->count++;
		*at = *call;
	}
}

void stack_memory_keep(struct stack_memory *memory, int32_t tid, const struct unwind_frame *frames, size_t count, bool whole)
{
	if (!memory->slots)
		memory->slots = memory_zero(STACK_MEMORY_THREADS, sizeof *memory->slots);
	struct stack_slot *slot = slot_of(memory, tid);
	if (count < 2 || count * 4 > (size_t)STACK_MEMORY_CALLS * 3)
		return;
	if (memory->calls > STACK_MEMORY_CALLS_ALL)
		for (size_t i = 0; i < STACK_MEMORY_THREADS; i++)
			slot_clear(memory, &memory->slots[i]);
	if (slot->tid != tid)
		slot_clear(memory, slot);
	slot->tid = tid;
	make_room(memory, slot, count);
	for (size_t i = 1; i + 1 < count; i++) {
		bool bottom = whole && i + 2 == count;
		struct stack_call call = { frames[i].cfa, frames[i].pc, bottom ? NEXT_BOTTOM : frames[i + 1].cfa, frames[i + 1].pc };
		/* stacks grow down: what leads elsewhere is another stack */
		if (call.place && (bottom || (call.next_place > call.place && call.next_place > NEXT_SEVERAL)))
			keep_call(slot, &call);
	}
}

size_t stack_memory_join(const struct stack_memory *memory, int32_t tid, struct unwind_frame *frames, size_t count, size_t max)
{
	const struct stack_slot *slot = slot_of(memory, tid);
	if (!slot || slot->tid != tid || !slot->count || count < 2)
		return count;
	for (size_t joined = count; joined < max; joined++) {
		const struct unwind_frame *last = &frames[joined - 1];
		const struct stack_call *call = call_at(slot, last->cfa, last->pc);
		if (!last->cfa || !call->place || call->next_place == NEXT_SEVERAL)
			return count;
		bool bottom = call->next_place == NEXT_BOTTOM;
		frames[joined] = (struct unwind_frame){ .pc = call->next_pc, .cfa = bottom ? 0 : call->next_place };
		if (bottom)
			return joined + 1;
	}
	return max;
}

void stack_memory_forget(struct stack_memory *memory, int32_t tid)
{
	struct stack_slot *slot = slot_of(memory, tid);
	if (slot && slot->tid == tid)
		slot_clear(memory, slot);
}
