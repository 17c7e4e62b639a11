/* A session's parts, options and counters: shared by the files of session/; read-only for sinks. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/pool.h"
#include "base/reader.h"
#include "data/source.h"
#include "model/model.h"
#include "unwind/tables.h"

struct budget;
struct stitch;
struct trace;
struct trace_options;

/* Results of unwinding recorded user stacks. */
struct unwind_tally {
	uint64_t stacks, frames;
	uint64_t guessed_stacks, guessed_frames; /* by frame pointer, without a rule */
	uint64_t ends[UNWIND_ENDS];
	uint64_t joined;             /* truncated stacks that were completed by an earlier one */
};

struct session_counters {
	uint64_t records, samples;
	uint64_t by_type[RECORD_TYPE_MAX];
	uint64_t lost_events, lost_samples, lost_records;  /* claimed by LOST records */
	uint64_t lost_traces;        /* incomplete pieces of hardware traces, as claimed by AUX records */
	uint64_t bad_samples;        /* samples that did not decode */
	uint64_t bad_records;        /* side-band without the fields of its type */
	uint64_t bad_offset;         /* of the first of them, or of those that the model refused, in the recording … */
	uint32_t bad_type;           /* … and its type */
	uint64_t unknown_ids;        /* samples of no known event */
	uint64_t out_of_order;       /* older than the last flushed time */
	uint64_t unresolved_threads;
	uint64_t left_out_samples;   /* behind the position at which memory reached its limit */
	uint64_t left_out_chains;    /* rows without their call chains, for the same reason; counted by the sink */
	uint64_t jit_dumps, jit_untimed; /* jitdumps that were read; those with times that the recording's clock cannot express */
	uint64_t first_time, last_time; /* of samples; UINT64_MAX/0 if absent */
	struct unwind_tally unwind;  /* counted at each request of a sink for a chain */
};

struct session {
	struct source *source;
	struct unwind_tables *unwind_tables; /* NULL: recorded user stacks are not unwound */
	struct stack_memory *stack_memory; /* NULL: truncated stacks are not joined with earlier ones */
	bool no_guess;
	struct model model;
	struct pool *pool;
	struct session_counters counters;
	const struct map *(*kernel_beyond)(void *context, const struct session *session, uint64_t address);
	void *kernel_beyond_context;
	size_t (*kernel_parts)(void *context, const struct module *kernel, struct kernel_part *parts, size_t max);
	struct stitch *stitch;       /* NULL: stitching is disabled */
	struct trace *trace;         /* NULL: no hardware trace is decoded */
	struct error error;          /* why reading stopped early; kind ERROR_NONE if complete */
	struct session_internal *internal;
};

struct session_options {
	unsigned threads;            /* 0: all CPUs that this process may use */
	/* Where to find files whose call frame information unwinds recorded user stacks; copied. NULL: no unwinding. */
	const struct image_options *images;
	/* Continue truncated unwound stacks with earlier ones of the same thread (unwind/stack_memory.h). Samples are then processed serially. */
	bool join_stacks;
	bool no_guess;               /* end unwound stacks where no rule applies, without frame-pointer guesses */
	/* Returns the mapping of a kernel address that lies in no mapping, or NULL. Called from any worker. */
	const struct map *(*kernel_beyond)(void *context, const struct session *session, uint64_t address);
	void *kernel_beyond_context;
	/* Called once with the same context when the kernel's mapping is known: stores the layout of the kernel's file in parts and returns their
	 * number, 0 if unknown. Called from the owner; NULL: layout unknown. */
	size_t (*kernel_parts)(void *context, const struct module *kernel, struct kernel_part *parts, size_t max);
	/* Opens the jitdump that process pid mapped under this path; < 0: no trustworthy dump exists. Called from the owner; NULL: dumps are not
	 * read. */
	int (*jit_open)(void *context, int32_t pid, const char *path, struct reader *reader);
	void *jit_context;
	struct budget *budget;       /* for records that wait, the history of mappings, and JIT dumps; NULL: no limit; borrowed */
	const struct trace_options *trace; /* how to decode the hardware trace; copied; NULL: it is not decoded */
	bool stitch_call_stacks;     /* join the call stacks of branch records across samples, which are then processed serially */
	bool ordered_rounds;         /* no record of a round is older than one of an earlier round: each is delivered at once */
	enum guests guests;          /* whose samples of virtual machines are */
	bool keep_exited;            /* samples after a thread's exit still have its name (report, trace) */
	void (*progress)(void *context, uint64_t done, uint64_t total); /* called at most ten times a second; NULL: none */
	/* Called at most ten times a second on the thread that runs the session, while no slice runs: what the sink has collected so far may be
	 * read. NULL: none. */
	void (*pause)(void *context);
	void *progress_context;      /* of both */
};

static inline const struct evlist *session_evlist(const struct session *session)
{
	return &session->source->header.evlist;
}
