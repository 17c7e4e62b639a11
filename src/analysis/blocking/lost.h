/* User work that is lost after a thread returns from the kernel, as caches and predictors have other content: its instructions per cycle
 * there, compared with those elsewhere. From a trace or from counts of both events. */
#pragma once
#include "analysis/ipc/ipc_track.h"

/* User code in the window after a return, or elsewhere. least, most: bounds of the instructions. */
struct lost_part {
	uint64_t occurrences;
	double cycles, instructions, least, most;
};

/* Counts of sampled events: of user code after a switch (0), and elsewhere (1). */
struct lost_samples {
	double cycles[2], instructions[2], cycle_squares[2], instruction_squares[2]; /* squares: of the periods, for the uncertainty */
};

enum lost_place { LOST_SWITCHES, LOST_CALLS, LOST_ELSEWHERE, LOST_PLACES }; /* after a switch, after the kernel without one */

struct lost {
	struct lost_part parts[LOST_PLACES];
};

/* Shares of the user work; lower and upper are its bounds. */
struct lost_share {
	bool known;
	double lower, share, upper;
};

/* CPU time that a trace shows, in ns. */
struct traced_times {
	uint64_t user, waiting, calls, other; /* waiting: in system calls during which the thread was switched; calls: in others of their names */
};

/* tracks: by thread. width: the most instructions that the machine retires in a cycle. */
void lost_read_trace(struct lost *lost, struct traced_times *times, const struct ipc_tracks *tracks, uint64_t window_ns, unsigned width);
void lost_read_samples(struct lost *lost, const struct lost_samples *samples);
/* Not known without user work elsewhere. */
struct lost_share lost_after(const struct lost *lost, enum lost_place place);
