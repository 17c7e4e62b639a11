/* Keeping the reader of a ring near it: on its CPU, or on a CPU of its node. */
#pragma once
#include <stdbool.h>

#include "base/vec.h"
#include "os/cpus.h"

struct affinity {
	VEC(struct cpus) nodes;      /* empty: each CPU by itself */
	int cpu;                     /* where it is now; -1: anywhere */
};

void affinity_open(struct affinity *affinity, bool by_node);
void affinity_close(struct affinity *affinity);
/* Moves the calling thread near this CPU; -1: stays. Where it may not go there, it stays too. */
void affinity_follow(struct affinity *affinity, int cpu);
