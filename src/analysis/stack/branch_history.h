/* report --branch-history: inserts a sample's branches, newest first, into its call chain and merges the iterations of loops; and sums up
 * the branches at each frame. Independent of their display. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"

/* Sums over the samples with a frame. Each sample adds one branch mark: the values of a branch at one of its ends, packed into a word; 0:
 * the frame is not the end of a branch. */
struct branch_marks {
	uint64_t branches, predicted, aborts, cycles, iterations, iteration_cycles, from;
	uint64_t latest;             /* clock of the first sample of the latest addition */
	uint32_t types;              /* one bit per type: bits 0 to 15 for type, 16 to 31 for new_type */
	bool target;                 /* the latest branch ends at the frame; otherwise it begins there */
	bool forward, backward, cross_4k, cross_2m;
};

/* Adds `count` samples with one branch mark. first: clock of the first of them. */
void branch_marks_add(struct branch_marks *marks, uint64_t mark, uint32_t count, uint64_t first);
/* Subtracts the first sample from the divisor `from` of a source, as perf does. first: the first sample's branch mark. */
void branch_marks_finish(struct branch_marks *marks, uint64_t first);

enum { HISTORY_BRANCHES_MAX = 127 };

/* history_wanted: whether the sample has branches to insert. history_frames: stores the frames and their branch marks in the given
 * direction, at most HISTORY_BRANCHES_MAX * 2 + callchain_count, and returns their number; *damaged: the call chain has an unknown
 * context marker. */
bool history_wanted(const struct resolved *r, size_t max_stack);
size_t history_frames(const struct resolved *r, enum chain_direction direction, size_t max_stack, const struct location **frames,
	uint64_t *marks, bool *damaged);
