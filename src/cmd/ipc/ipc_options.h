/* The options of `ipc`. */
#pragma once
#include "analysis/ipc/ipc_around.h"
#include "cmd/filter.h"
#include "cmd/input.h"
#include "render/format/format.h"

enum ipc_view { IPC_VIEW_WINDOWS, IPC_VIEW_TRACKS, IPC_VIEW_EVENTS, IPC_VIEW_RANGES, IPC_VIEW_LENGTHS, IPC_VIEW_AROUND, IPC_VIEW_STEADY,
	IPC_VIEW_SPARKLINE };

struct ipc_command {
	struct input_options input;
	struct filter_options filter;
	struct ipc_length window, step, span; /* count 0: not given */
	struct ipc_anchor anchor;
	bool anchored, by_thread, tracks, events, ranges, lengths, steady, sparkline;
	unsigned width;
	uint64_t limit;
	const char *marks, *around, *svg, *title, *counters;
	const struct format *format;
};

extern const struct option ipc_table[];
void ipc_defaults(void *target, const struct cli *cli);
/* After parsing: whether the options agree. */
int ipc_check(struct ipc_command *options, struct error *err);
enum ipc_view ipc_view_of(const struct ipc_command *options);
