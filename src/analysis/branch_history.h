/* report --branch-history: a sample's branches, newest first, woven into its call chain, loops among them taken together; and what is
 * known of the branches at a frame of the chains. Knows not how that is shown. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"

/* What one branch tells at one of its ends is packed into a word, its mark; 0: the frame is no end of a branch.
 * Sums over the samples that came by a frame. */
struct branch_marks {
	uint64_t branches, predicted, aborts, cycles, iterations, iteration_cycles, from;
	uint64_t latest;             /* clock of the first sample of that kind */
	uint32_t types;              /* a bit per type: the old ones, from 16 on the new ones */
	bool target;                 /* branches end there, the latest kind of them; else they begin there */
	bool forward, backward, cross_4k, cross_2m;
};

/* first: clock of the first of `count` samples. */
void branch_marks_add(struct branch_marks *marks, uint64_t mark, uint32_t count, uint64_t first);
/* The first sample is not counted where branches begin. */
void branch_marks_finish(struct branch_marks *marks, uint64_t first);

enum { HISTORY_BRANCHES_MAX = 127 };

/* The frames of a sample, in that direction, and the mark of each: room for HISTORY_BRANCHES_MAX * 2 + callchain_count. Returns how
 * many; *damaged: an unknown marker. False of history_wanted: the sample has none to weave in. */
bool history_wanted(const struct resolved *r, size_t max_stack);
size_t history_frames(const struct resolved *r, enum chain_direction direction, size_t max_stack, const struct location **frames,
	uint64_t *marks, bool *damaged);
