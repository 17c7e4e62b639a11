/* The results of `ipc` as tables. */
#pragma once
#include "analysis/ipc/ipc_around.h"
#include "analysis/ipc/ipc_lengths.h"
#include "analysis/ipc/ipc_steady.h"
#include "analysis/ipc/ipc_window.h"
#include "analysis/table/table.h"

/* What the tables show; borrowed, and filled by the caller as far as a table needs it. */
struct ipc_result {
	const struct ipc_tracks *tracks;
	VEC(struct ipc_windows) windows;  /* by track */
	VEC(struct ipc_steady) steady;    /* by track */
	struct ipc_around around;
	struct ipc_lengths lengths;
	bool around_ns;                   /* its unit */
	bool data;                        /* for programs: absolute times, and columns that repeat */
	uint64_t limit;                   /* cycles: windows with a longer range are marked; 0: none */
	uint64_t first_ns;                /* of all tracks: times for people count from it */
};

void ipc_result_fini(struct ipc_result *result);
struct table ipc_windows_table(const struct ipc_result *result);
struct table ipc_tracks_table(const struct ipc_result *result);
struct table ipc_events_table(const struct ipc_result *result);
struct table ipc_ranges_table(const struct ipc_result *result);
struct table ipc_lengths_table(const struct ipc_result *result);
struct table ipc_around_table(const struct ipc_result *result);
struct table ipc_steady_table(const struct ipc_result *result);
