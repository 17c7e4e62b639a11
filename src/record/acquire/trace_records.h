/* The records that carry a hardware trace: AUXTRACE_INFO, which decoders need, and AUXTRACE before each piece of the trace. Source: perf's
 * perf.data-file-format.txt, PERF_RECORD_AUXTRACE_INFO and _AUXTRACE, and perf-intel-pt(1). */
#pragma once
#include <stddef.h>

#include "base/writer.h"
#include "os/aux_ring.h"
#include "record/acquire/counters.h"
#include "record/acquire/target.h"
#include "record/acquire/trace.h"

/* Appends AUXTRACE_INFO; nothing without a trace. The rings are mapped. */
void trace_info_record(const struct trace *trace, const struct events *events, const struct counters *counters, struct writer *out);
/* Appends AUXTRACE for a piece from the area of a ring. The bytes of the piece follow in the file, padded to 8. */
void trace_piece_record(const struct counters *counters, const struct target *target, size_t ring,
	const struct aux_piece *piece, struct writer *out);
