/* A BPF program that decides for each sample of a perf event whether it is recorded: made from a condition, instruction by instruction, and
 * loaded without a compiler. It reads the context of the program, who runs where, and what the kernel's type information finds of the
 * sample. It counts what it drops in a map. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "bpf/assemble.h"
#include "bpf/sample_fields.h"
#include "event/sample_condition.h"

/* Appends the program for a condition. map: the descriptor of an array of one uint64_t, which counts what is dropped. monotonic: times of
 * samples are those of CLOCK_MONOTONIC. Fails with ERROR_UNSUPPORTED and its name if a term cannot be read. */
int sample_filter_make(const struct sample_condition *condition, const struct sample_fields *fields, bool monotonic, int map,
	struct bpf_instructions *out, struct error *err);

struct sample_filter {
	int program, map;  /* descriptors; -1: not open */
};

/* Loads the program for a condition. program is for counter_set_bpf. */
int sample_filter_open(struct sample_filter *filter, const struct sample_condition *condition, bool monotonic, struct error *err);
void sample_filter_close(struct sample_filter *filter);
/* The number of samples that it has dropped. */
uint64_t sample_filter_dropped(const struct sample_filter *filter);
