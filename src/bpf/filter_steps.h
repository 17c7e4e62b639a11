/* A condition on samples as steps: each compares one term with a value, and names the step that follows if the comparison holds, and if it
 * does not. Steps follow earlier ones only, so that a program of them ends. Internal to bpf/. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "bpf/assemble.h"
#include "bpf/sample_fields.h"
#include "event/sample_condition.h"

enum { FILTER_STEPS_MAX = 64, FILTER_KEEP = 254, FILTER_DROP = 255 };

/* As the shared program reads it from its map. */
struct filter_step {
	uint64_t value;
	uint8_t term, operator;
	uint8_t yes, no;       /* indexes of steps, FILTER_KEEP or FILTER_DROP */
	uint32_t unused;
};

struct filter_steps {
	struct filter_step list[FILTER_STEPS_MAX];
	uint32_t count;
};

/* Whether the condition has terms that only the sample's data of the kernel has. */
bool filter_needs_fields(const struct sample_condition *condition, bool monotonic);
/* monotonic: times of samples are those of CLOCK_MONOTONIC, which a program can read without the sample's data. Fails with
 * ERROR_UNSUPPORTED and its name if a term cannot be read. */
int filter_steps_make(struct filter_steps *steps, const struct sample_condition *condition, const struct sample_fields *fields,
	bool monotonic, struct error *err);
/* Loads the value of a term into r0; r6 is the context. false: programs cannot read the term. It changes r1 to r5. */
bool filter_term_emit(struct assembler *a, const struct sample_fields *fields, enum condition_term term);
/* The code of a jump that compares registers: `==` to `&`. */
unsigned filter_jump(enum condition_operator operator);
