/* Timed ranges, IPC with its bounds, and events over time: three panels on one axis for each track; or the mean IPC around an event. A
 * self-contained SVG page: zoom, moving and details where scripts run, a readable picture where they do not. */
#pragma once
#include "analysis/ipc/ipc_around.h"
#include "analysis/ipc/ipc_window.h"
#include "base/writer.h"

struct ipc_svg {
	const char *title;
	struct ipc_grid grid;         /* window 0: one that suits the picture */
	uint64_t limit;               /* cycles: longer ranges have another colour; 0: the window */
	const struct ipc_tracks *tracks;
};

enum { IPC_SVG_TRACKS_MAX = 16 }; /* the others are left out, which the picture says */

void ipc_svg_write(struct writer *out, const struct ipc_svg *svg);

struct ipc_around_svg {
	const char *title, *event;
	bool ns;                      /* the unit of the rows; otherwise cycles */
};

void ipc_around_svg_write(struct writer *out, const struct ipc_around *around, const struct ipc_around_svg *svg);
