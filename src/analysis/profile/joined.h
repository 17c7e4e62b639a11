/* The joined frames of call chains (terms.md): which functions they are, and how many samples have them. A worker interns the joined part
 * of each distinct chain; a sample is then one addition. Inlined calls count as the function that contains them. Knows no text. */
#pragma once
#include "analysis/entry/state.h"

struct collector;
struct resolved;

/* The joined parts of one worker's chains, as stacks of their own. */
struct joined_parts {
	struct stacks stacks;   /* zeroed until a chain is joined */
	VEC(uint64_t) samples;  /* by node */
};

/* Interns the joined part of the sample's recorded callchain; STACK_ROOT: it has none. */
uint32_t joined_part(struct collector *collector, const struct resolved *r);
void joined_parts_fini(struct joined_parts *parts);
/* Adds up what all workers found, after the last sample. */
void joined_sum(const struct profile *profile, struct joined_functions *functions);

static inline void joined_count(struct joined_parts *parts, uint32_t part)
{
	if (part != STACK_ROOT)
		parts->samples.items[part]++;
}
