#include "unwind/stack_memory.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"

/* Values of next_place that are no address. */
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

/* The call with this place and pc, or a free entry for it. */
static struct stack_call *call_at(const struct stack_slot *slot, uint64_t place, uint64_t pc)
{
	size_t mask = slot->capacity - 1, at = (size_t)hash_pair(place, pc) & mask;
	while (slot->calls[at].place && (slot->calls[at].place != place || slot->calls[at].pc != pc))
		at = (at + 1) & mask;
	return &slot->calls[at];
}

/* Makes room for `more` calls: drops the existing ones if they would become too many. */
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

/* Hashes the frame below frames[at].cfa, in which the function stores its caller's registers; 0: not completely copied. */
static uint64_t content_of(const struct unwind_frame *frames, size_t at, const struct stack_copy *copy)
{
	enum { BYTES_MAX = 128 };
	uint64_t end = frames[at].cfa - copy->address, from = frames[at - 1].cfa - copy->address;
	if (from >= end || end > copy->bytes.len)
		return 0;
	if (end - from > BYTES_MAX)
		from = end - BYTES_MAX;
	return hash_bytes(copy->bytes.data + from, (size_t)(end - from)) | 1;
}

static void keep_call(struct stack_slot *slot, const struct stack_call *call)
{
	struct stack_call *at = call_at(slot, call->place, call->pc);
	if (at->place && (at->next_place != call->next_place || at->next_pc != call->next_pc)) {
		at->next_place = NEXT_SEVERAL;
	} else if (!at->place) {
		slot->count++;
		*at = *call;
	} else if (call->content) {
		at->content = call->content; /* another call from the same place, or the same one later */
	}
}

void stack_memory_keep(struct stack_memory *memory, int32_t tid, const struct unwind_frame *frames, size_t count, size_t found, bool whole,
	const struct stack_copy *copy)
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
	if (!slot->deep && found >= 2)
		slot->deep = frames[found - 2].cfa - copy->address >= copy->bytes.len / 2;
	make_room(memory, slot, count);
	for (size_t i = 1; i + 1 < count; i++) {
		bool bottom = whole && i + 2 == count;
		struct stack_call call = { frames[i].cfa, frames[i].pc, bottom ? NEXT_BOTTOM : frames[i + 1].cfa, frames[i + 1].pc,
			slot->deep && i < found ? content_of(frames, i, copy) : 0 };
		/* stacks grow down: another direction means another stack */
		if (call.place && (bottom || (call.next_place > call.place && call.next_place > NEXT_SEVERAL)))
			keep_call(slot, &call);
	}
}

/* Returns whether the outermost completely copied frames were seen before. */
static bool overlaps(const struct stack_slot *slot, const struct unwind_frame *frames, size_t count, const struct stack_copy *copy)
{
	if (count < STACK_MEMORY_OVERLAP + 2) /* the first one is not stored: its function still runs */
		return false;
	for (size_t i = count - 1 - STACK_MEMORY_OVERLAP; i < count - 1; i++) {
		const struct stack_call *call = call_at(slot, frames[i].cfa, frames[i].pc);
		if (!frames[i].cfa || !call->place || call->next_place != frames[i + 1].cfa || call->next_pc != frames[i + 1].pc ||
		    !call->content || call->content != content_of(frames, i, copy))
			return false;
	}
	return true;
}

size_t stack_memory_join(const struct stack_memory *memory, int32_t tid, struct unwind_frame *frames, size_t count, size_t max,
	const struct stack_copy *copy)
{
	const struct stack_slot *slot = slot_of(memory, tid);
	if (!slot || slot->tid != tid || !slot->count || !overlaps(slot, frames, count, copy))
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
