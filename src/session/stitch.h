/* Joins call stacks that the processor recorded (--call-graph lbr) and that were deeper than its registers with the contents of earlier
 * samples of the thread. perf's rule: the index gives the position of this stack's base in the registers; if the previous sample has the
 * same branches there, its older ones continue the stack. Needs samples in order. Internal to session/. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/sample.h"
#include "base/hash.h"
#include "base/vec.h"
#include "data/header.h"

struct stitch_thread;

struct stitch {
	bool wanted;
	bool asked;                    /* the result is needed for the next sample */
	uint64_t registers;            /* branches that the processor can hold; 0: unknown, no joining */
	struct idmap by_thread;
	VEC(struct stitch_thread *) threads;
};

void stitch_fini(struct stitch *stitch);
/* The callers below the sample's own branches, innermost first; borrowed until the thread's next sample. Repeated calls for the same sample
 * (identified by its clock) give the same result. */
size_t stitch_join(struct stitch *stitch, const struct header *header, uint64_t thread, uint64_t clock, const struct sample *sample,
	const uint64_t **addresses);
