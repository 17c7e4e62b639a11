/* Moves hardware traces from the AUX areas of a measurement to the recording: an AUXTRACE record, then the bytes; and stores their places
 * for the index in the header. Internal to record/. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "data/writer.h"
#include "record/acquire/measurement.h"

/* Where an AUXTRACE record is, as HEADER_AUXTRACE has it. */
struct trace_place {
	uint64_t offset, size;
};

struct trace_writing {
	VEC(struct trace_place) index; /* of the current file */
	struct writer head;            /* the record before the bytes */
	bool stopped;                  /* the event that traces was disabled: it is not enabled again after a reading */
};

void trace_writing_open(struct trace_writing *writing);
void trace_writing_fini(struct trace_writing *writing);
/* Writes the content of the areas, unless they are overwritten, and lets the kernel continue. 1: bytes were written; 0: none; < 0: *err. */
int trace_writing_drain(struct trace_writing *writing, struct measurement *m, struct data_writer *out, struct error *err);
/* Stops the trace, so that a snapshot contains the code that led to its request. */
void trace_writing_stop(const struct measurement *m);
/* Writes a snapshot of all areas of a stopped trace; then continues the trace unless `last`. */
int trace_writing_snapshot(struct trace_writing *writing, struct measurement *m, struct data_writer *out, bool last, struct error *err);
