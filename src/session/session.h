/* source → model → resolved samples → sink. Puts records into delivery order (by time within FINISHED_ROUND windows, as perf),
 * applies side-band to the model, and hands samples to the sink in batches that workers process in parallel.
 * Knows no option, no symbol, no output. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/sample.h"
#include "base/pool.h"
#include "base/reader.h"
#include "data/source.h"
#include "model/model.h"
#include "unwind/tables.h"

/* Where an address lies. Interned per worker: equal (mapping, address) gives the same pointer, which never moves. One cache line:
 * `note` is the sink's own (it is zero at first, and only this worker's callbacks see it), so that what a sink knows of a place
 * costs no second miss. */
struct location {
	uint32_t id;            /* dense per worker, from 0: an index for what a sink caches */
	uint32_t module;        /* MODULE_ID_NONE: in no mapping */
	uint64_t address;       /* as recorded */
	uint64_t offset;        /* as the module counts (map_offset); the address itself where there is no module */
	const struct map *map;  /* NULL: in no mapping */
	uint8_t cpumode;        /* enum record_misc cpumode */
	uint64_t note[3];
};

static inline void *location_note(const struct location *location)
{
	return (void *)location->note;
}

struct session;
struct worker;
struct stitch;

/* A sample with its surroundings. Everything borrowed for one callback; `worker` is this thread's. */
struct resolved {
	struct session *session;
	struct worker *worker;
	const struct record *record;
	const struct sample *sample;
	uint32_t event;                /* index in the evlist */
	const struct evsel *evsel;
	uint64_t clock;                /* place in the delivery order */
	uint32_t thread;               /* id in the model, or THREAD_NONE */
	int32_t pid, tid;              /* as the sample says (-1 where it does not) */
	uint32_t comm;                 /* string id in the model, or COMM_NONE */
	const struct map_node *user_root, *kernel_root;
	const struct location *ip;     /* of the sample's own address; NULL where it has none: ask resolved_ip */
};

/* The sample's comm as text; ":TID" is made in buffer (>= 16 bytes) where none is known. */
const char *resolved_comm(const struct resolved *r, char *buffer, size_t size);
/* The sample's own address. */
const struct location *resolved_ip(const struct resolved *r);
/* Any address, in the space that cpumode says. */
const struct location *resolved_locate(const struct resolved *r, unsigned cpumode, uint64_t address);
/* An address of unknown mode (branch ends, data): in the user's space, then in the kernel's. */
const struct location *resolved_locate_any(const struct resolved *r, uint64_t address);
enum chain_direction { CHAIN_INNERMOST_FIRST, CHAIN_OUTERMOST_FIRST };

/* Frames without markers; the recorded callchain's own first entry is the sample's ip. */
struct chain {
	const struct location **frames; /* the worker's: until the next call */
	size_t count;
	bool damaged;                   /* an unknown marker: none of it can be trusted; frames before it are there */
};

/* At most `limit` frames of the recorded callchain, in that direction; empty where the sample has none. */
struct chain resolved_chain(const struct resolved *r, enum chain_direction direction, size_t limit);
/* Entries [skip, end) of the recorded callchain alone, markers among them, counted from where that direction begins. */
struct chain resolved_chain_part(const struct resolved *r, enum chain_direction direction, uint64_t skip, uint64_t end, size_t limit);
/* The recorder completed the callchain from an earlier sample of its thread (record --call-graph unwind): where that part begins, the
 * mark of user code stands once more. Readers skip it. */
bool resolved_chain_is_joined(const struct resolved *r);
/* Nothing but the recorded callchain and the address spaces decides about the chain: what is known of equal ones holds. */
bool resolved_chain_is_plain(const struct resolved *r);

/* What a sink is. Either parallel (per-worker state, output merged in order by the sink) or serial. */
struct sink {
	void *context;
	/* A batch has `jobs` slices, each of consecutive samples in delivery order. Called on the owner before slices run; NULL: none. */
	void (*batch_begin)(void *context, struct session *session, size_t slices);
	/* For every record of a slice, on some worker, in order within the slice. Samples: resolved and decoded. Other records: only
	 * where want_records; then r->sample is the trailer. r->event UINT32_MAX: of no known event. */
	void (*record)(void *context, const struct resolved *r, size_t slice);
	/* The slice is done; on the worker that had it. NULL: none. */
	void (*slice_end)(void *context, const struct worker *worker, size_t slice);
	/* All slices of the batch are done; on the owner, slices to be consumed in order of index. */
	void (*batch_end)(void *context, struct session *session, size_t slices);
	bool want_records;  /* side-band and tool records too, in delivery order (script --show-*, -D, report --tasks/--stats) */
	bool serial;        /* one slice per batch */
	/* In file order, before anything is delivered, for -D and counting: every record as it is read. On the owner. NULL: none. */
	void (*raw)(void *context, struct session *session, const struct record *record);
	bool unordered;     /* deliver in file order */
	bool skip_samples;  /* only side-band is of interest: samples are not decoded */
};

/* How unwinding of recorded user stacks ended. */
struct unwind_tally {
	uint64_t stacks, frames;
	uint64_t guessed_stacks, guessed_frames; /* by frame pointer, where no rule was */
	uint64_t ends[UNWIND_ENDS];
	uint64_t joined;             /* of those that were cut: completed by an earlier one */
};

struct session_counters {
	uint64_t records, samples;
	uint64_t by_type[RECORD_TYPE_MAX];
	uint64_t unknown_types;
	uint64_t lost_events, lost_samples, lost_records;  /* as the LOST records claim */
	uint64_t bad_samples;        /* did not decode */
	uint64_t unknown_ids;        /* of no known event */
	uint64_t out_of_order;       /* below the last flushed time */
	uint64_t unresolved_threads;
	uint64_t jit_dumps, jit_untimed; /* dumps of JIT compilers that were read; whose times the recording's clock does not know */
	uint64_t first_time, last_time; /* of samples; UINT64_MAX/0 where none */
	struct unwind_tally unwind;  /* once for each time that a sink asked for a chain */
};

struct session {
	struct source *source;
	struct unwind_tables *unwind_tables; /* NULL: recorded user stacks are not unwound */
	struct stack_memory *stack_memory; /* NULL: cut stacks are not joined to earlier ones */
	struct model model;
	struct pool *pool;
	struct session_counters counters;
	const struct map *(*kernel_beyond)(void *context, const struct session *session, uint64_t address);
	void *kernel_beyond_context;
	size_t (*kernel_parts)(void *context, const struct module *kernel, struct kernel_part *parts, size_t max);
	int (*jit_open)(void *context, int32_t pid, const char *path, struct reader *reader);
	void *jit_context;
	struct stitch *stitch;       /* NULL: not asked for */
	struct error error;          /* what stopped the reading early; kind ERROR_NONE where whole */
	struct session_internal *internal;
};

struct session_options {
	unsigned threads;            /* 0: all CPUs allowed */
	/* Where files are found whose call frame information unwinds recorded user stacks; copied. NULL: none is unwound. */
	const struct image_options *images;
	/* Unwound stacks that were cut go on as earlier ones of the same thread did (unwind/stack_memory.h): samples are processed one
	 * after the other. */
	bool join_stacks;
	/* Asked about a kernel address that lies in no mapping: one that it belongs to all the same, or NULL. From any worker. */
	const struct map *(*kernel_beyond)(void *context, const struct session *session, uint64_t address);
	void *kernel_beyond_context;
	/* Asked once, when the kernel's mapping is told, with the same context: how the kernel's file lays it out, where that is known.
	 * Returns how many parts. NULL: nobody knows. From the owner. */
	size_t (*kernel_parts)(void *context, const struct module *kernel, struct kernel_part *parts, size_t max);
	/* Opens the dump of a JIT compiler that process pid mapped under this path; < 0: there is none that can be trusted. NULL: dumps
	 * are not looked at. From the owner. */
	int (*jit_open)(void *context, int32_t pid, const char *path, struct reader *reader);
	void *jit_context;
	bool stitch_call_stacks;     /* those of branch records are joined across samples: these are processed one after the other */
	bool keep_exited;            /* samples after a thread's exit still have its name (report, trace) */
	void (*progress)(void *context, uint64_t done, uint64_t total); /* NULL: none; at most ten times a second */
	void *progress_context;
};

/* Takes the source over (closes it). */
int session_open(struct session *session, struct source *source, const struct session_options *options, struct error *err);
void session_close(struct session *session);

/* Reads all records and feeds the sink. 0: whole; < 0: *err says where it stopped; all that was whole before was delivered. */
int session_run(struct session *session, const struct sink *sink, struct error *err);

static inline const struct evlist *session_evlist(const struct session *session)
{
	return &session->source->header.evlist;
}
unsigned session_workers(const struct session *session);
unsigned worker_index(const struct worker *worker); /* in [0, session_workers) */
