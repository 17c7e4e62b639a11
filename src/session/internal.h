/* What a session is while it runs, and the sizes of its steps. Internal to session.c. */
#pragma once
#include "base/budget.h"
#include "jit/feeds.h"
#include "session/deferred.h"
#include "session/order.h"
#include "session/plain.h"
#include "session/record_times.h"
#include "session/worker.h"

enum {
	BATCH_RECORDS = 16384,       /* a batch is passed to the workers at this many records … */
	BATCH_BYTES = 2 << 20,       /* … or bytes */
	TRACE_RECORDS = 4096,        /* … or at this many with samples of a trace, whose bytes then fit into the cache of a core */
	PLAIN_RECORDS = 2048,        /* for a plain sink: records between releases of their bytes */
	SLICE_RECORDS = 512,         /* a slice ends at this many records … */
	SLICE_BYTES = 64 << 10,      /* … or bytes */
	BLOCK_RECORDS = 16,          /* resolved together, so that their cache misses overlap */
	PATIENCE_RECORDS = 65536,    /* a sample waits for its deferred chain until this many records follow */
	PATIENCE_BYTES = 64 << 20,
	STREAM_POINTS = 1 << 17,     /* a worker of a stream drops its points at this many */
	STREAM_ROOM = 16 << 20,      /* by which the model of a stream may grow, beside its own size, before it is renewed */
	CHECK_EVERY = 4096,          /* records between checks of the waiting bytes, and of the clock */
	END_SHARE = 3,               /* what a sink without an account stores takes this many times as much at the end */
	ROOM_SHARE = 384,            /* memory is checked whenever records of this share of the limit were read: one word of a call chain can
	                              * take 300 bytes until the end */
};

struct session_internal {
	const struct sink *sink;
	void (*deliver)(void *context, const struct entry *entry);
	struct order order;
	struct entries batch;
	struct entries running;      /* the batch whose slices run, and the clock of its first record */
	uint64_t running_clock;
	struct entries spare;        /* its array, if the next batch is read meanwhile */
	VEC(uint32_t) cuts;          /* the first record of each of its slices */
	bool runs;
	struct plain plain_sink;
	bool plain_ready;            /* plain_begin was called, and the header has not grown since then */
	struct entries plain;        /* with a trace: the batch before the samples of the trace are added */
	VEC(uint64_t) changes;       /* clocks within the batch at which the model changes */
	uint64_t epoch;              /* 1 + number of such clocks before the batch */
	uint64_t batch_bytes, batch_clock; /* clock of the batch's first record */
	uint64_t batch_most;         /* bytes of a batch */
	uint32_t part;               /* the source's */
	uint64_t from_ns, until_ns;  /* samples that are needed; until_ns 0: all */
	bool bounded, full;          /* memory is limited by the budget; it has reached the limit */
	uint64_t unchecked_bytes;    /* of records, since it was last compared with the limit */
	size_t needed;               /* the memory that was compared then */
	uint64_t mark;             /* the source's mark: data before it is no longer needed */
	struct budget *budget;
	struct deferred deferred;
	size_t held;                 /* records at the batch's start that still wait */
	uint64_t held_bytes;
	size_t build_ids_taken;
	size_t modules_seen;         /* number of modules checked, none of which is a kernel */
	size_t events_seen;          /* the number of events when see_events looked at them */
	bool unordered, ordered_rounds;
	bool combines;               /* changes of the model between two samples are combined */
	struct record_times times;
	struct jit_feeds jit;
	struct worker **workers;
	void (*progress)(void *context, uint64_t done, uint64_t total);
	void (*pause)(void *context);
	void *progress_context;
	uint64_t progress_time_ns, pause_time_ns, batch_time_ns;
	size_t renewed_growth;       /* bytes of the model after the last renewal for a stream */
};
