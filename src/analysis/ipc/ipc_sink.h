/* The sink of `ipc`: the branches, packets and errors of a hardware trace, and context switches → tracks. The session must decode the trace
 * with branches, power events and errors (itrace "bpe"). */
#pragma once
#include "analysis/filter/sample_filter.h"
#include "analysis/ipc/ipc_counters.h"
#include "analysis/ipc/ipc_track.h"
#include "arch/syscalls.h"
#include "session/session.h"
#include "symbol/symbol.h"
#include "tracepoint/tracepoint.h"

struct ipc_options {
	struct symbols *symbols;
	struct tracepoints *const *tracepoints; /* NULL until the recording's formats are read */
	enum syscalls syscalls;           /* names of the numbers of raw_syscalls */
	struct sample_filter filter;
	bool by_thread;                   /* also where the trace is of CPUs */
	const char *const *marks;         /* globs of functions whose calls are events */
	size_t mark_count;
	struct ipc_roles counters;        /* events of groups whose samples carry their counts */
};

/* What the recording has. */
struct ipc_facts {
	bool traced, has_cycles, timeless; /* a trace of Intel PT; with cycle packets; without times that convert into ns */
	uint64_t branches;
};

struct ipc_sink;

/* tracks is borrowed, and filled. */
struct ipc_sink *ipc_sink_new(const struct ipc_options *options, struct ipc_tracks *tracks);
struct sink ipc_sink_of(struct ipc_sink *sink);
/* After the session: ipc_tracks_finish. */
struct ipc_facts ipc_sink_finish(struct ipc_sink *sink);
void ipc_sink_free(struct ipc_sink *sink);
