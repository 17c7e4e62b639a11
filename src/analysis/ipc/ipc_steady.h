/* A short range of time that is worth looking at: one to three iterations of what the thread repeats, without lost trace, away from the
 * start and the end. */
#pragma once
#include "analysis/ipc/ipc_around.h"

struct ipc_steady {
	bool found;
	uint64_t from_ns, to_ns, from_cycle, to_cycle;
	unsigned iterations;
	uint32_t name;                /* of the event that begins each iteration, in names */
	uint8_t kind;
	uint64_t occurrences;         /* of that event in the track */
	double rate, whole_rate;      /* IPC of the range, and of the track */
	uint64_t losses;              /* gaps and overflows in the track: the choice avoids them */
};

/* anchor NULL: the system call, function or switch that occurs most often. */
void ipc_steady_find(struct ipc_steady *steady, const struct ipc_tracks *tracks, const struct ipc_track *track,
	const struct ipc_anchor *anchor);
