/* A BPF program that decides for each sample of a perf event whether it is recorded: made from a condition, instruction by instruction, and
 * loaded without a compiler. It reads the interrupted instruction pointer, the period, the data address, and who runs where. It counts
 * what it drops in a map. Source: linux/bpf.h, Documentation/bpf/standardization/instruction-set.rst. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "event/sample_condition.h"

/* An instruction as the kernel takes it. */
struct bpf_instruction {
	uint8_t code;
	uint8_t registers; /* destination, and source in the upper half (in the lower one where the machine is big-endian) */
	int16_t offset;
	int32_t immediate;
};

struct bpf_instructions {
	VEC(struct bpf_instruction) list;
};

/* Appends the program for a condition. map: the descriptor of an array of one uint64_t, which counts what is dropped. Fails with
 * ERROR_UNSUPPORTED and its name if a term cannot be read. monotonic: times of samples are those of CLOCK_MONOTONIC, which alone can be
 * compared. */
int sample_filter_make(const struct sample_condition *condition, bool monotonic, int map, struct bpf_instructions *out, struct error *err);

struct sample_filter {
	int program, map;  /* descriptors; -1: not open */
};

/* Loads the program for a text. program is for counter_set_bpf. */
int sample_filter_open(struct sample_filter *filter, const char *text, bool monotonic, struct error *err);
void sample_filter_close(struct sample_filter *filter);
/* The number of samples that it has dropped. */
uint64_t sample_filter_dropped(const struct sample_filter *filter);
