/* Instructions in a window of cycles, from timed ranges: those that lie wholly in it (interior) and those that its edges cut (leading,
 * trailing). The true number lies between `least` and `most`: of a cut range, at most `width` instructions retire in each of its cycles,
 * inside and outside of the window. An instruction that retires in the very cycle of an edge may belong to either side. */
#pragma once
#include "analysis/ipc/ipc_track.h"

struct ipc_window {
	uint64_t from_cycle, to_cycle;
	uint64_t from_ns, to_ns;          /* 0: unknown */
	uint64_t interior, leading, trailing; /* instructions of ranges; one that both edges cut is leading */
	uint64_t least, most;             /* bounds of the true number; without a width: interior, and the sum of all three */
	double linear;                    /* cut ranges by their share of cycles */
	uint64_t instructions;            /* linear, rounded so that adjacent windows add up to the total */
	bool gap;                         /* trace was lost in it: the bounds do not hold */
	uint64_t longest;                 /* cycles of the longest range that it touches */
};

/* width: the most instructions that the machine retires in a cycle; 0: no limit. */
void ipc_window_at(const struct ipc_track *track, uint64_t from_cycle, uint64_t to_cycle, unsigned width, struct ipc_window *window);

/* A length on one of the axes. */
struct ipc_length {
	uint64_t count;
	bool ns;                          /* otherwise cycles */
};

struct ipc_grid {
	struct ipc_length window, step;   /* both in one unit; step equal to window: buckets */
	unsigned width;
};

/* Windows from the start of the track on; those without cycles are left out. At most IPC_WINDOWS_MAX. */
enum { IPC_WINDOWS_MAX = 1 << 20 };
struct ipc_windows {
	VEC(struct ipc_window) list;
	bool truncated;
};

void ipc_windows_make(struct ipc_windows *windows, const struct ipc_track *track, const struct ipc_grid *grid);

static inline uint64_t ipc_window_cycles(const struct ipc_window *window)
{
	return window->to_cycle - window->from_cycle;
}

/* The true number can differ from the linear one by more than 2 %. */
bool ipc_window_uncertain(const struct ipc_window *window);

/* Instructions per cycle; 0 without cycles. */
static inline double ipc_window_rate(const struct ipc_window *window, double instructions)
{
	uint64_t cycles = ipc_window_cycles(window);
	return cycles ? instructions / (double)cycles : 0;
}
