/* How long timed ranges are: how much of the time is known to within how many cycles, and which windows make sense. */
#pragma once
#include "analysis/ipc/ipc_window.h"

enum { IPC_LENGTHS_MAX = 64 };

struct ipc_length_row {
	uint64_t cycles;                   /* ranges of at most so many … */
	uint64_t ranges, instructions, weight; /* … and more than the row before: weight: the sum of their cycles */
};

struct ipc_lengths {
	struct ipc_length_row rows[IPC_LENGTHS_MAX]; /* 0, 1, 2, 5, 10, 20, 50 … up to the longest */
	size_t count;
	uint64_t ranges, cycles;           /* in total */
	uint64_t smallest;                 /* window in cycles, see ipc_smallest_window */
};

void ipc_lengths_make(struct ipc_lengths *lengths, const struct ipc_tracks *tracks, unsigned width);
/* The smallest of 10, 20, 50, 100 … cycles such that, in nine of ten windows of that length, the bounds are at most a tenth of the linear
 * number apart; the length of the longest track if none is. Judged by up to 2000 windows of each track. */
uint64_t ipc_smallest_window(const struct ipc_tracks *tracks, unsigned width);
/* The smallest of 1, 2, 5, 10 … that is at least `number`. */
uint64_t ipc_round_up(uint64_t number);
