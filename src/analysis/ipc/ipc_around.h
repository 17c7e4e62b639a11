/* IPC before and after an event, averaged over its occurrences: each is the origin of an axis of cycles or ns. */
#pragma once
#include "analysis/ipc/ipc_window.h"

/* Which events: "switch", "read", "syscall:read:exit", "mark:tcp_*", "cbr" … */
struct ipc_anchor {
	int kind;                          /* enum ipc_event_kind; -1: any with that name */
	char name[64];                     /* a glob; "": any */
	bool exit;                         /* the end of a span, not its start */
};

/* False: the text is too long or names an unknown kind. */
bool ipc_anchor_parse(struct ipc_anchor *anchor, const char *text);
bool ipc_anchor_matches(const struct ipc_anchor *anchor, const struct ipc_tracks *tracks, const struct ipc_event *event);

struct ipc_around_row {
	int64_t from, to;                  /* cycles or ns from the event on */
	uint64_t count;                    /* occurrences with cycles in it */
	double mean, low, high;            /* linear IPC, and the interval of confidence (95 %) of its mean */
	double least, most;                /* the means of the bounds */
	double sum, squares;
};

struct ipc_around {
	VEC(struct ipc_around_row) rows;
	uint64_t occurrences, gaps;        /* gaps: windows left out because trace was lost in them */
};

enum { IPC_AROUND_ROWS_MAX = 10000 };

/* Bins of the length of grid->window from -span to +span; both in one unit, span at most IPC_AROUND_ROWS_MAX / 2 bins. */
void ipc_around_make(struct ipc_around *around, const struct ipc_tracks *tracks, const struct ipc_anchor *anchor, uint64_t span,
	const struct ipc_grid *grid);
