/* The filter of samples for users who may not load BPF programs. Root pins one program and its maps in the BPF file system; the program
 * reads steps of a condition from a map, in the element that the counter's cookie selects. A user claims an element and writes a condition
 * to it. Every user can change every element: filters decide what a user's own recording contains, and nothing else. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "event/sample_condition.h"

/* Pins the program in FOLDER below the BPF file system at /sys/fs/bpf, and lets all users reach it. */
int shared_filter_pin(struct error *err);
int shared_filter_unpin(struct error *err);

struct shared_filter {
	int program, owners, dropped; /* descriptors; -1: not open */
	uint32_t element;
	VEC(int) links;               /* of counters */
};

/* Claims an element and writes the condition. Fails with ERROR_PERMISSION and a hint if no program is pinned. */
int shared_filter_open(struct shared_filter *filter, const struct sample_condition *condition, bool monotonic, struct error *err);
/* Filters the samples of a counter, until shared_filter_close. 0 or -errno. */
int shared_filter_attach(struct shared_filter *filter, int counter);
void shared_filter_close(struct shared_filter *filter);
/* The number of samples that it has dropped. */
uint64_t shared_filter_dropped(const struct shared_filter *filter);
