/* Where the CPUs of a recording are, from its header. */
#pragma once
#include "data/feature.h"
#include "record/count/cpu_place.h"

struct recorded_topology {
	struct arena arena;
	struct feature_cpu_topology cpus;
	struct feature_numa nodes;
	struct feature_caches caches;
};

void recorded_topology_read(struct recorded_topology *topology, const struct header *header);
void recorded_topology_fini(struct recorded_topology *topology);
/* The place of a CPU of a recording without a header, a pipe: perf takes this machine's, without nodes. */
void unrecorded_place(void *context, struct cpu_place *place, int32_t cpu, enum cpu_place_kind kind, int cache_level);
/* As cpu_place_read; what the recording does not have is -1. context: the topology. */
void recorded_place(void *context, struct cpu_place *place, int32_t cpu, enum cpu_place_kind kind, int cache_level);
