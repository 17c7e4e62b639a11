/* Makes call chains by call frame information while recording: samples in the rings have registers and a copy of the stack, those in the
 * file an ordinary call chain instead. Side-band records are copied to the file, and give the mappings of processes.
 * A sample is unwound in its ring; a sample that finds no room in a ring is lost as in any recording, and counted by the kernel.
 * Samples that lead to code without a table yet are set aside while another thread reads its call frame information; samples that find no
 * room there are written unchanged, for the reader to unwind. Prints nothing. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/pool.h"
#include "base/writer.h"
#include "event/event.h"
#include "record/acquire/build_reader.h"
#include "record/acquire/counters.h"

enum { UNWINDING_FRAMES_MAX = 1024 };  /* of user code, if no option sets another number */

/* Stacks by result. */
struct unwinding_counts {
	uint64_t stacks;         /* samples of user code, or of the kernel on its behalf */
	uint64_t complete;       /* to the first function of the thread */
	uint64_t joined;         /* cut, and completed from an earlier sample of the same thread */
	uint64_t cut;            /* the copy of the stack ended */
	uint64_t switched;       /* the callers are on another stack, which is not copied */
	uint64_t deep;           /* more frames than the limit */
	uint64_t unmapped;       /* led to an address in no mapping */
	uint64_t without_rules;  /* … to code without call frame information */
	uint64_t bad_rules;      /* … with invalid call frame information */
	uint64_t copied;         /* samples written unchanged; not among `stacks` */
	uint64_t compiled;       /* the same, as they lead through code of a just-in-time compiler, whose dump readers need */
	uint64_t damaged;        /* samples that do not decode: not written */
	uint64_t guessed, guessed_stacks; /* frames found without a rule; stacks with such frames */
};

struct unwinding;

struct unwinding_options {
	const char *buildid_dir; /* the build-id cache, another place of files; NULL; borrowed */
	struct budget *budget;   /* for call frame information; borrowed; NULL: no limit */
	struct build_reader *builds; /* receives mappings; NULL; borrowed */
	unsigned threads;        /* that unwind; 0: a share of the CPUs */
	bool by_ring;            /* the records of each ring are written separately: `out` is an array, by ring */
	bool no_guess;           /* stacks end where no rule applies */
	bool no_join;            /* cut stacks remain cut */
	size_t aside_bytes;      /* limit of the samples that wait for tables; 0: a default */
};

/* events: opened; counters: theirs. Both borrowed. */
struct unwinding *unwinding_new(const struct events *events, const struct counters *counters, const struct unwinding_options *options);
void unwinding_free(struct unwinding *unwinding); /* accepts NULL */

/* Receives the records about what existed before the first sample. */
void unwinding_existing(struct unwinding *unwinding, struct span records);
/* Lists the records of the rings that are due; `final`: all. Returns their number. */
int64_t unwinding_begin(struct unwinding *unwinding, bool final, struct error *err);
/* Lists the records of the overwritten rings instead, whose output is paused. The mappings of their time must be in other rings, those of
 * private events, which must be empty now. Output may continue once unwinding_step has processed all records. */
int64_t unwinding_snapshot(struct unwinding *unwinding, struct error *err);
/* Appends a part of the listed records to out, as the file has them, and returns their room in the rings to the kernel; also the samples
 * that were set aside and can be unwound now (`final`: all of them). 0: no record was left. */
int unwinding_step(struct unwinding *unwinding, struct writer *out);
/* Samples are set aside: records older than the written ones may follow. */
bool unwinding_waits(const struct unwinding *unwinding);
/* Its threads, which callers may use between two steps. */
struct pool *unwinding_pool(const struct unwinding *unwinding);
const struct unwinding_counts *unwinding_counts(const struct unwinding *unwinding);
