/* Call stacks that the processor recorded (--call-graph lbr) and that were deeper than its registers, joined to what earlier samples
 * of the thread still had there. By perf's rule: where the base of this stack lies in the registers is known from their index; where
 * the sample before has the same branches there, its older ones belong below. Needs samples in their order. Internal to session/. */
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
	bool asked;                    /* for the next */
	uint64_t registers;            /* branches the processor can hold; 0: the recording does not tell, nothing is joined */
	struct idmap by_thread;
	VEC(struct stitch_thread *) threads;
};

void stitch_fini(struct stitch *stitch);
/* The callers below the sample's own branches, innermost first; borrowed until the thread's next sample. Asked again about the same
 * sample (its place in the order is its clock) it gives the same. */
size_t stitch_join(struct stitch *stitch, const struct header *header, uint64_t thread, uint64_t clock, const struct sample *sample,
	const uint64_t **addresses);
