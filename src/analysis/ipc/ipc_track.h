/* Cycles and instructions of one CPU or thread as a chain of timed ranges: between two events whose cycles are known. Ranges follow each
 * other on an axis of cycles without gaps; on the axis of time they need not, as cycles outside of the trace are not counted. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/str.h"
#include "base/vec.h"

struct ipc_range {
	uint64_t from_cycle, to_cycle; /* its instructions retire in the cycles [from_cycle, to_cycle + track.slack] */
	uint64_t from_ns, to_ns;       /* 0: unknown */
	uint64_t instructions;
	uint64_t before;               /* instructions of all ranges before */
	uint32_t gaps;                 /* ranges before that are gaps */
	bool gap;                      /* trace was lost in it: it has more instructions, and possibly more cycles */
};

enum ipc_event_kind {
	IPC_EVENT_USER, IPC_EVENT_KERNEL, IPC_EVENT_UNTRACED, /* spans: where the code runs */
	IPC_EVENT_SYSCALL,    /* span: entry to exit */
	IPC_EVENT_OFF_CPU,    /* span: the thread did not run */
	IPC_EVENT_MARK,       /* span: a chosen function, call to return */
	IPC_EVENT_SWITCH, IPC_EVENT_CBR, IPC_EVENT_PSB, IPC_EVENT_POWER, IPC_EVENT_OVERFLOW, IPC_EVENT_GAP,
	IPC_EVENT_KINDS
};

struct ipc_event {
	uint8_t kind;
	uint32_t name;                 /* in ipc_tracks.names */
	uint64_t from_ns, to_ns;       /* equal: no span */
	uint64_t from_cycle, to_cycle; /* of the axis: the on-CPU part that was traced */
};

struct ipc_track {
	int32_t cpu, tid, pid;         /* -1: any */
	uint32_t comm;                 /* in names: the last one */
	uint32_t comm_id;              /* of the model, which it was made from */
	VEC(struct ipc_range) ranges;
	VEC(struct ipc_event) events;  /* by end, until ipc_tracks_finish: by start */
	uint64_t cycles, instructions, gaps;
	uint32_t slack;                /* cycles by which a range may end later than recorded */
	bool tail;                     /* instructions follow the last range, of which some may retire in its last cycle */
};

/* All tracks of a recording. */
struct ipc_tracks {
	VEC(struct ipc_track) list;
	struct idmap known;            /* CPU and thread → index, until ipc_tracks_finish */
	struct strtab names;
	bool timeless;                 /* times are unknown */
	bool counted;                  /* ranges are intervals of counters, not of a trace */
	uint32_t slack;                /* of tracks that are added */
};

void ipc_tracks_fini(struct ipc_tracks *tracks);
/* The index of the track of a CPU or thread, which is added if it is new. */
size_t ipc_tracks_find(struct ipc_tracks *tracks, int32_t cpu, int32_t tid);
/* The same without adding; SIZE_MAX: unknown. */
size_t ipc_tracks_get(const struct ipc_tracks *tracks, int32_t cpu, int32_t tid);
/* Orders tracks and their events, and drops tracks without ranges. */
void ipc_tracks_finish(struct ipc_tracks *tracks);
void ipc_track_add(struct ipc_track *track, uint64_t cycles, uint64_t instructions, uint64_t from_ns, uint64_t to_ns, bool gap);

/* What a track is of: "CPU 3", "thread 12 (comm)"; foreign text, not escaped. */
void ipc_track_title(const struct ipc_tracks *tracks, const struct ipc_track *track, struct str *text);

/* "syscall", "cbr" … */
const char *ipc_event_word(enum ipc_event_kind kind);

/* The first range that ends at a cycle or later; the number of ranges if all end before. */
size_t ipc_track_at(const struct ipc_track *track, uint64_t cycle);
/* Between the axes: linear within a range. A cycle at which tracing paused has two times: when it paused, and (after) when it resumed. */
uint64_t ipc_track_cycle(const struct ipc_track *track, uint64_t ns);
uint64_t ipc_track_ns(const struct ipc_track *track, uint64_t cycle, bool after);
/* Executed up to a cycle, where each range is spread evenly over its cycles. */
double ipc_track_instructions(const struct ipc_track *track, uint64_t cycle);
