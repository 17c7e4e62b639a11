#include "analysis/stack/branch_history.h"

#include <string.h>

enum { LOOP_SLOTS = 127, LOOP_BITS = 7, LOOP_NONE = 255, CALL_LENGTH_MAX = 8 };
enum { TYPE_COND = 1, TYPE_EXTENDED = 15 };

/* Bit positions in a branch mark. Bits 0 to 3 are flags; the others hold the values of a target (TO_) or of a source (FROM_). */
enum {
	MARK_TO = 1, MARK_FROM = 2, MARK_PREDICTED = 4, MARK_ABORT = 8,
	TO_TYPE = 8, TO_NEW_TYPE = 12, TO_TYPED = 16, TO_FORWARD = 17, TO_BACKWARD = 18, TO_4K = 19, TO_2M = 20,
	FROM_CYCLES = 8, FROM_ITERATIONS = 24, FROM_ITERATION_CYCLES = 32,
};

/* The loop iterations that were removed before a branch: their number, and the cycles of the last one. */
struct loop_iterations {
	uint64_t count, cycles;
};

static uint64_t word_bits(uint64_t word, unsigned at, unsigned bits)
{
	return word >> at & (((uint64_t)1 << bits) - 1);
}

static uint64_t mark_of_target(const struct branch_entry *branch)
{
	uint64_t mark = MARK_TO | (branch_is_predicted(branch->flags) ? MARK_PREDICTED : 0) | (branch_is_abort(branch->flags) ? MARK_ABORT : 0);
	uint64_t type = word_bits(branch->flags, 20, 4);
	if (!type)
		return mark;
	mark |= type << TO_TYPE | word_bits(branch->flags, 26, 4) << TO_NEW_TYPE | (uint64_t)1 << TO_TYPED;
	if (type == TYPE_COND)
		mark |= (uint64_t)1 << (branch->to > branch->from ? TO_FORWARD : TO_BACKWARD);
	if (branch->from >> 21 != branch->to >> 21)
		mark |= (uint64_t)1 << TO_2M;
	else if (branch->from >> 12 != branch->to >> 12)
		mark |= (uint64_t)1 << TO_4K;
	return mark;
}

static uint64_t mark_of_source(const struct branch_entry *branch, const struct loop_iterations *iterations)
{
	return MARK_FROM | (uint64_t)branch_cycles(branch->flags) << FROM_CYCLES | iterations->count << FROM_ITERATIONS |
	       iterations->cycles << FROM_ITERATION_CYCLES;
}

void branch_marks_add(struct branch_marks *marks, uint64_t mark, uint32_t count, uint64_t first)
{
	if (!mark)
		return;
	marks->branches += count;
	if (first >= marks->latest) {
		marks->target = mark & MARK_TO;
		marks->latest = first;
	}
	if (mark & MARK_FROM) {
		marks->cycles += word_bits(mark, FROM_CYCLES, 16) * count;
		marks->iterations += word_bits(mark, FROM_ITERATIONS, 8) * count;
		marks->iteration_cycles += (mark >> FROM_ITERATION_CYCLES) * count;
		marks->from += count;
		return;
	}
	marks->predicted += mark & MARK_PREDICTED ? count : 0;
	marks->aborts += mark & MARK_ABORT ? count : 0;
	if (!word_bits(mark, TO_TYPED, 1))
		return;
	uint64_t type = word_bits(mark, TO_TYPE, 4);
	marks->types |= type == TYPE_EXTENDED ? (uint32_t)1 << (16 + word_bits(mark, TO_NEW_TYPE, 4)) : (uint32_t)1 << type;
	marks->forward |= word_bits(mark, TO_FORWARD, 1);
	marks->backward |= word_bits(mark, TO_BACKWARD, 1);
	marks->cross_4k |= word_bits(mark, TO_4K, 1);
	marks->cross_2m |= word_bits(mark, TO_2M, 1);
}

void branch_marks_finish(struct branch_marks *marks, uint64_t first)
{
	if (first & MARK_FROM && marks->from)
		marks->from--;
}

static void loop_iteration_add(struct loop_iterations *iterations, const struct branch_entry *branches, size_t count)
{
	iterations->count++;
	iterations->cycles = 0;
	for (size_t i = 0; i < count; i++)
		iterations->cycles += branch_cycles(branches[i].flags);
}

static bool is_repetition(const struct branch_entry *branches, size_t count, size_t start, size_t at, size_t *length)
{
	*length = 0;
	for (size_t i = start; i < at && at + *length < count; i++, ++*length)
		if (branches[i].from != branches[at + *length].from)
			return false;
	return true;
}

/* Removes a sequence of branches that repeats the one before it, and counts it as an iteration. Like perf, finds repetitions by a small
 * hash of the source address and ignores collisions. Returns the remaining count. */
static size_t branches_remove_loops(struct branch_entry *branches, struct loop_iterations *iterations, size_t count)
{
	uint8_t seen[LOOP_SLOTS];
	memset(seen, LOOP_NONE, sizeof seen);
	for (size_t i = 0; i < count; i++) {
		size_t slot = (branches[i].from * 0x61c8864680b583ebu >> (64 - LOOP_BITS)) % LOOP_SLOTS, length;
		if (seen[slot] == LOOP_NONE) {
			seen[slot] = (uint8_t)i;
			continue;
		}
		if (branches[seen[slot]].from != branches[i].from || !is_repetition(branches, count, seen[slot], i, &length))
			continue;
		if (count > i + length) {
			loop_iteration_add(&iterations[i + length], &branches[i], length);
			memmove(&iterations[i], &iterations[i + length], (count - i - length) * sizeof *iterations);
			memmove(&branches[i], &branches[i + length], (count - i - length) * sizeof *branches);
		}
		count -= length;
	}
	return count;
}

static bool has_user_part(const struct sample *sample, size_t max_stack)
{
	for (uint64_t i = 0; i < sample->callchain_count && i < max_stack; i++)
		if (sample_chain_at(sample, i) == CONTEXT_USER)
			return true;
	return false;
}

bool history_wanted(const struct resolved *r, size_t max_stack)
{
	if (!(r->sample->present & SAMPLE_BRANCH_STACK) || r->sample->branch_count > HISTORY_BRANCHES_MAX)
		return false;
	return !(r->evsel->attr.branch_sample_type & BRANCH_CALL_STACK) || !has_user_part(r->sample, max_stack);
}

/* Returns how many entries at the start of the recorded call chain the newest branches represent: context markers, and return addresses
 * just after the source of a branch. */
static size_t entries_of_branches(const struct sample *sample, const struct branch_entry *branches, size_t count)
{
	size_t first = 0;
	for (size_t i = 0; i < count && first < sample->callchain_count; i++) {
		uint64_t address = sample_chain_at(sample, first);
		first += address >= CONTEXT_MAX || (branches[i].from < address && branches[i].from >= address - CALL_LENGTH_MAX);
	}
	return first;
}

size_t history_frames(const struct resolved *r, enum chain_direction direction, size_t max_stack, const struct location **frames,
	uint64_t *marks, bool *damaged)
{
	const struct sample *sample = r->sample;
	struct branch_entry branches[HISTORY_BRANCHES_MAX];
	struct loop_iterations iterations[HISTORY_BRANCHES_MAX] = { 0 };
	bool inward_out = direction == CHAIN_INNERMOST_FIRST;
	size_t count = sample->branch_count < max_stack ? sample->branch_count : max_stack, used = 0;
	for (size_t i = 0; i < count; i++)
		branches[i] = sample_branch(sample, inward_out ? i : sample->branch_count - 1 - i);
	size_t first = inward_out ? entries_of_branches(sample, branches, count) : 0;
	count = branches_remove_loops(branches, iterations, count);
	for (size_t i = 0; i < count; i++) {
		frames[used] = resolved_locate_any(r, branches[i].to);
		marks[used++] = branches[i].from ? mark_of_target(&branches[i]) : mark_of_source(&branches[i], &(struct loop_iterations){ 0 });
		frames[used] = resolved_locate_any(r, branches[i].from);
		marks[used++] = mark_of_source(&branches[i], &iterations[i]);
	}
	/* the same number of entries is omitted at the other end of the call chain */
	uint64_t end = sample->callchain_count > count ? sample->callchain_count - count : 0;
	struct chain chain = resolved_chain_part(r, direction, first, end, max_stack);
	*damaged = chain.damaged;
	for (size_t i = 0; i < chain.count; i++) {
		frames[used] = chain.frames[i];
		marks[used++] = 0;
	}
	return used;
}
