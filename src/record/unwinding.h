/* Call chains by call frame information while recording: samples come out of the rings with registers and a copy of the stack, and
 * go to the file with an ordinary call chain in their place. Side-band records pass through and tell what was mapped where.
 * A sample is unwound where it lies in its ring; what finds no room in a ring is lost as in any recording, counted by the kernel.
 * Only samples that lead to code met for the first time are set aside, while another thread reads its call frame information; those
 * that find no room there either go to the file as they came, for the reader to unwind. Says nothing itself. */
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

enum { UNWINDING_FRAMES_MAX = 1024 };  /* of user code, where nothing else was asked for */

/* What became of the stacks, by cause. */
struct unwinding_counts {
	uint64_t stacks;         /* samples of user code, or of what it called in the kernel */
	uint64_t complete;       /* to the first function of the thread */
	uint64_t joined;         /* cut, and completed from an earlier sample of the same thread */
	uint64_t cut;            /* the copy of the stack ended */
	uint64_t switched;       /* another stack goes on there, which is not copied */
	uint64_t deep;           /* more frames than are kept */
	uint64_t unmapped;       /* led to an address in no mapping */
	uint64_t without_rules;  /* … to code without call frame information */
	uint64_t bad_rules;      /* … with information that makes no sense */
	uint64_t copied;         /* samples written as they came, beside those `stacks` */
	uint64_t compiled;       /* likewise, as they lead through code of a just-in-time compiler, whose dump tells readers how */
	uint64_t damaged;        /* samples that did not decode: left out */
	uint64_t guessed, guessed_stacks; /* frames that no rule gave; stacks that have some */
};

struct unwinding;

struct unwinding_options {
	const char *buildid_dir; /* where files may be found too; NULL; borrowed */
	struct budget *budget;   /* for call frame information; borrowed; NULL: none */
	struct build_reader *builds; /* sees what is mapped; NULL; borrowed */
	unsigned threads;        /* that unwind; 0: as many as this machine can spare */
	bool by_ring;            /* what comes of each ring is written apart: `out` is an array, by ring */
	bool no_guess;           /* stacks end where no rule leads on */
	bool no_join;            /* cut stacks stay so */
	size_t aside_bytes;      /* of samples that may wait for tables at once; 0: what is sensible */
};

/* events: as the kernel has them, opened; counters: theirs. Both borrowed. */
struct unwinding *unwinding_new(const struct events *events, const struct counters *counters, const struct unwinding_options *options);
void unwinding_free(struct unwinding *unwinding); /* NULL is fine */

/* Records about what was there before the first sample. */
void unwinding_existing(struct unwinding *unwinding, struct span records);
/* Lists what the rings hold and is due; `final`: everything. Returns how many records that is. */
int64_t unwinding_begin(struct unwinding *unwinding, bool final, struct error *err);
/* Lists what overwritten rings hold, their output paused, instead. What was mapped at the time of its samples must have been told in other
 * rings, and these been emptied: by private events. Output may go on once all of it went through unwinding_step. */
int64_t unwinding_snapshot(struct unwinding *unwinding, struct error *err);
/* Puts a part of that into out, as the file shall have it, and gives the rings their room back; and what was set aside, once it can be
 * unwound (`final`: all of it). 0: nothing was left. */
int unwinding_step(struct unwinding *unwinding, struct writer *out);
/* Samples are set aside: records older than those written may still come. */
bool unwinding_waits(const struct unwinding *unwinding);
/* Its threads, for whoever has work between two steps. */
struct pool *unwinding_pool(const struct unwinding *unwinding);
const struct unwinding_counts *unwinding_counts(const struct unwinding *unwinding);
