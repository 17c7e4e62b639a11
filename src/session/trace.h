/* Hardware traces (AUX areas) → samples, delivered between the records of a recording by time. A trace has queues, one per CPU or thread;
 * each is decoded up to the time of the record that is delivered next, with the address spaces as of that record. The samples belong to
 * events that trace_open adds to the evlist. Intel PT and BTS, from files. Knows no symbol. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "decode/itrace.h"

struct entries;
struct entry;
struct model;
struct module;
struct pool;
struct record;
struct resolved;
struct sample;
struct source;
struct trace;

/* Code of a module: its offsets [offset, offset + bytes.len). */
struct trace_code {
	struct span bytes;       /* borrowed while the session is open */
	uint64_t offset;
};

struct trace_options {
	struct itrace itrace;
	/* The code around an offset of a module; false: not available. Called by several threads. */
	bool (*code)(void *context, const struct module *module, uint64_t offset, struct trace_code *code);
	void *context;
	/* The offset of a symbol in the kernel; NULL: unknown. With it, threads change at the instruction that switches them. */
	bool (*symbol)(void *context, const struct module *kernel, const char *name, uint64_t *offset);
	void *symbol_context;
	/* Takes each piece of the trace when it is opened, in the order of the file: its record and its bytes; branches: of Intel BTS. NULL:
	 * they are not needed. */
	void (*log)(void *context, const struct record *record, struct span bytes, bool branches);
	void *log_context;
};

enum trace_flag { /* numbers as in perf's recordings */
	TRACE_BRANCH = 1 << 0, TRACE_CALL = 1 << 1, TRACE_RETURN = 1 << 2, TRACE_CONDITIONAL = 1 << 3, TRACE_SYSCALL = 1 << 4,
	TRACE_ASYNC = 1 << 5, TRACE_INTERRUPT = 1 << 6, TRACE_ABORT = 1 << 7, TRACE_BEGIN = 1 << 8, TRACE_END = 1 << 9,
	TRACE_IN_TX = 1 << 10, TRACE_VM_ENTRY = 1 << 11, TRACE_VM_EXIT = 1 << 12, TRACE_INTERRUPTS_OFF = 1 << 13,
	TRACE_INTERRUPTS_TOGGLED = 1 << 14,
	TRACE_POINT = 1 << 15, /* no branch: an instruction whose cycles are known, with itrace.paging */
};

/* What a sample of a trace has in addition to its record. */
struct trace_note {
	uint32_t flags;          /* enum trace_flag */
	uint8_t instruction_size; /* bytes of the instruction at the sample's address; 0: unknown */
	uint8_t instruction[15]; /* its bytes, if has_instruction */
	bool has_instruction;
	uint32_t depth;          /* of a branch, with itrace.call_depth: calls that have not returned */
	uint64_t all_cycles;     /* of the traced code of the CPU or thread, since its trace began */
	uint64_t time_stamp;     /* of the processor (TSC), as exact as the packets of time are; 0: unknown */
	uint64_t instructions, cycles; /* since the last sample of this event with cycles; 0: unknown */
};

/* Gaps of the decoded trace in the code of a module. */
struct trace_gaps {
	uint32_t module;         /* MODULE_ID_NONE: in no mapping */
	uint64_t missing;        /* times that its code is not available … */
	uint64_t mismatches;     /* … or contradicts the trace */
	uint64_t first, last;    /* the lowest and highest address of these */
	uint64_t instructions;   /* at least so many were executed there */
};

struct trace_losses {
	uint64_t bad_packets, missing, mismatches, overflows, loops;
	uint64_t instructions;   /* at least so many were executed in all gaps */
	uint64_t cut_stacks;     /* stacks that lack outermost frames */
	struct trace_gaps *gaps; /* by module, in the order of their first gaps */
	size_t gap_count;
};

/* Opens the trace of the recording in the file source->path and adds the events of its samples to source's evlist. NULL: the recording
 * has no trace that can be decoded. The pool, which is borrowed, decodes parts of it in parallel; NULL: the caller's thread does. */
struct trace *trace_open(struct source *source, const struct trace_options *options, struct pool *pool);
void trace_free(struct trace *trace); /* accepts NULL */

/* Before the first samples: only those from `from` to `until` ns are needed (0: open). What precedes the last synchronization point before
 * the window is not decoded. */
void trace_set_window(struct trace *trace, uint64_t from, uint64_t until);
/* Appends samples older than `until` ns (UINT64_MAX: all) to the batch, until it has `full` entries or they have 8 MB. True: there are
 * more. Their bytes are valid until trace_release. clock: for look-ups in the model. */
bool trace_advance(struct trace *trace, const struct model *model, uint64_t until, uint64_t clock, size_t full, struct entries *batch);
/* A record is delivered next. True: it is the end of a thread, and the rest of its trace (Intel BTS) precedes it, as in perf: advance
 * again. */
bool trace_thread_ends(struct trace *trace, const struct record *record);
/* Notes a record that is delivered now: which thread runs on a CPU, which bytes of a trace are lost. The latter appends an error. */
void trace_note_record(struct trace *trace, const struct record *record, const struct sample *trailer, struct entries *batch);
/* A record with what the trace adds to it, if it is a sample: valid until trace_release, or as long as *entry. */
struct entry trace_complete(struct trace *trace, const struct entry *entry);
/* The samples so far are in use until trace_release; the next ones are made elsewhere. */
void trace_hand_over(struct trace *trace);
void trace_release(struct trace *trace);
/* Called each time before trace_advance uses the pool. */
void trace_before_pool(struct trace *trace, void (*run)(void *context), void *context);
/* All errors of decoding so far, also those that are no samples; valid until the next call of a function of the trace. */
struct trace_losses trace_losses(const struct trace *trace);

/* The note of a sample; NULL if it is not of a trace. */
const struct trace_note *trace_note_of(const struct resolved *r);
