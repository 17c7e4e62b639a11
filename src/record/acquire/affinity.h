/* Moves the reader of a ring near it: to its CPU, or to a CPU of its node. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "os/cpus.h"

struct affinity {
	VEC(struct cpus) nodes;      /* empty: to the CPU itself */
	int32_t cpu;                 /* the CPU that it was moved to; -1: not moved yet */
};

void affinity_open(struct affinity *affinity, bool by_node);
void affinity_close(struct affinity *affinity);
/* Moves the calling thread near this CPU, unless that is -1 or it may not run there. */
void affinity_follow(struct affinity *affinity, int32_t cpu);
/* Moves the calling thread to these CPUs; false: it may not run there, and remains. */
bool affinity_set(const int32_t *cpus, size_t count);
