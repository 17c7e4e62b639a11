/* Makes the header features of a recording: machine, command, events … Bodies as in perf.data. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/writer.h"
#include "data/writer.h"
#include "os/bpf.h"
#include "record/acquire/counters.h"

/* Values of features that are not read from the machine. */
struct feature_facts {
	const char *version;            /* of the recorder */
	const char *const *command;     /* argv of the whole command, NULL-terminated; the program's path first */
	struct events *events;
	const struct evlist *evlist;    /* the same events as the file has them */
	const struct bpf_programs *programs; /* those that were loaded during the recording */
	struct span tracing;            /* the body of TRACING_DATA; empty: no tracepoint */
	struct span perf_maps;          /* the body of PERF_MAPS; empty: no map */
	struct span build_ids;          /* the body of BUILD_ID; data NULL: not made */
	uint64_t first_time, last_time; /* of samples; 0 */
	bool use_clockid;
	int32_t clockid;
	bool branch_stack;
	bool counts;                    /* a recording of counts: STAT */
	bool compressed;
	uint32_t compression_level, compression_ratio, ring_bytes;
	bool directory;
	bool traces;                    /* the recording has hardware traces */
	struct span trace_index;        /* pairs of the offset and the size of each AUXTRACE record */
};

struct features {
	struct writer out;              /* all bodies, one after another */
	uint64_t present;               /* bit per enum feature, below 64 */
	struct {
		size_t at, len;
	} place[FEATURE_COUNT];
};

void features_make(struct features *features, const struct feature_facts *facts);
void features_fini(struct features *features);
/* The bodies, borrowed. */
struct feature_bodies features_bodies(const struct features *features);
/* The same as records of a pipe, with the mark at their end; without bodies that are too long for a record. */
void features_records(const struct features *features, struct writer *out);

/* The body of TRACING_DATA for the tracepoints among the events, appended: formats, kernel symbols of printk. */
int tracing_data_make(struct writer *out, const struct events *events, struct error *err);
