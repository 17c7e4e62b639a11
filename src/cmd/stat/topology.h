/* Where the CPUs of a recording are, from its header. */
#pragma once
#include "base/hash.h"
#include "base/vec.h"
#include "data/feature.h"
#include "record/count/cpu_place.h"

struct recorded_topology {
	struct arena arena;
	struct feature_cpu_topology cpus;
	struct feature_numa nodes;
	struct feature_caches caches;
	struct idmap node_of;        /* CPU → index in nodes */
	struct idmap cache_of;       /* level, 0: any, and CPU → index in caches */
	VEC(int32_t) cache_firsts;   /* the first CPU of each cache; -1: its list is invalid */
};

void recorded_topology_read(struct recorded_topology *topology, const struct header *header);
/* Reads the lists of CPUs of nodes and caches; recorded_topology_read does. */
void recorded_topology_index(struct recorded_topology *topology);
void recorded_topology_fini(struct recorded_topology *topology);
/* The place of a CPU of a recording without a header, a pipe: perf takes this machine's, without nodes. */
void unrecorded_place(void *context, struct cpu_place *place, int32_t cpu, enum cpu_place_kind kind, int cache_level);
/* As cpu_place_read; what the recording does not have is -1. context: the topology. */
void recorded_place(void *context, struct cpu_place *place, int32_t cpu, enum cpu_place_kind kind, int cache_level);
