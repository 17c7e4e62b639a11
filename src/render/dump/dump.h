/* The raw dump of `report -D` and `script -D`: every record as bytes and as text, in delivery order. A sink calls dump_record for
 * each record it is given (want_records, serial). Knows no option and no symbol. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "analysis/count/sample_reads.h"
#include "arch/isa.h"
#include "base/writer.h"
#include "data/branch_counters.h"
#include "session/session.h"

enum dump_tool {
	DUMP_REPORT,
	DUMP_SCRIPT, /* handles some records that are "unhandled" in report */
};

struct dump {
	struct writer *out;
	enum dump_tool tool;
	bool unordered;        /* the file's order, not that of time */
	bool no_sample_id_all; /* then there is no other order: set by dump_init */
	enum isa isa;          /* names of registers */
	struct branch_counter_limits branch_counters;
	size_t attrs_seen;     /* of a pipe: number of events that were known when a record was read */
	struct sample_reads reads;
	size_t events_known;   /* how many of them the next three sum up */
	bool has_cpu, has_time, sample_id_all;
	uint32_t trace_type;   /* of AUXTRACE_INFO; 0: none was read */
};

/* Prepares a dump of session's source. */
void dump_init(struct dump *dump, const struct session *session, enum dump_tool tool, struct writer *out);
void dump_fini(struct dump *dump);
/* Prints perf's warnings, which precede everything else. */
void dump_warn(const struct source *source, struct writer *out);

/* Prints everything about the record except the thread of its sample. */
void dump_record(struct dump *dump, const struct resolved *r);

/* The thread and the module of a sample, after dump_record, for samples that a filter has not dropped. One that carries counter
 * values has it once for each that has moved, or not at all. */
void dump_sample_place(struct dump *dump, const struct resolved *r);
/* The same for one such part, for callers that split samples themselves. */
void dump_part_place(struct dump *dump, const struct resolved *r);
