/* Hardware traces (AUX areas) → samples, delivered between the records of a recording by time. A trace has queues, one per CPU or thread;
 * each is decoded up to the time of the record that is delivered next, with the address spaces as of that record. The samples belong to
 * events that trace_open adds to the evlist. Intel PT, from files. Knows no symbol. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "decode/itrace.h"

struct entries;
struct model;
struct module;
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
	/* The code around an offset of a module; false: not available. */
	bool (*code)(void *context, const struct module *module, uint64_t offset, struct trace_code *code);
	void *context;
};

enum trace_flag { /* numbers as in perf's recordings */
	TRACE_BRANCH = 1 << 0, TRACE_CALL = 1 << 1, TRACE_RETURN = 1 << 2, TRACE_CONDITIONAL = 1 << 3, TRACE_SYSCALL = 1 << 4,
	TRACE_ASYNC = 1 << 5, TRACE_INTERRUPT = 1 << 6, TRACE_ABORT = 1 << 7, TRACE_BEGIN = 1 << 8, TRACE_END = 1 << 9,
	TRACE_IN_TX = 1 << 10, TRACE_VM_ENTRY = 1 << 11, TRACE_VM_EXIT = 1 << 12, TRACE_INTERRUPTS_OFF = 1 << 13,
	TRACE_INTERRUPTS_TOGGLED = 1 << 14,
};

/* What a sample of a trace has in addition to its record. */
struct trace_note {
	uint32_t flags;          /* enum trace_flag */
	uint8_t instruction_size; /* bytes of the instruction at the sample's address; 0: unknown */
	uint8_t instruction[15];
	uint32_t depth;          /* of a branch, with itrace.call_depth: calls that have not returned */
	uint64_t instructions, cycles; /* since the last sample of this event with cycles; 0: unknown */
};

/* Opens the trace of the recording in the file source->path and adds the events of its samples to source's evlist. NULL: the recording
 * has no trace that can be decoded. */
struct trace *trace_open(struct source *source, const struct trace_options *options);
void trace_free(struct trace *trace); /* accepts NULL */

/* Appends samples older than `until` ns (UINT64_MAX: all) to the batch, until it has `full` entries or they have 64 MB. True: there are
 * more. Their bytes are valid until trace_release. clock: for look-ups in the model. */
bool trace_advance(struct trace *trace, const struct model *model, uint64_t until, uint64_t clock, size_t full, struct entries *batch);
/* Notes a record that is delivered now: which thread runs on a CPU. */
void trace_note_record(struct trace *trace, const struct record *record, const struct sample *trailer);
void trace_release(struct trace *trace);

/* The note of a sample; NULL if it is not of a trace. */
const struct trace_note *trace_note_of(const struct resolved *r);
