/* Where a CPU is: the ids of the core, cluster, cache, die, package and node that it belongs to, from sysfs. */
#pragma once
#include <stdint.h>

#include "base/error.h"

enum cpu_place_kind { CPU_PLACE_CORE, CPU_PLACE_CLUSTER, CPU_PLACE_CACHE, CPU_PLACE_DIE, CPU_PLACE_SOCKET, CPU_PLACE_NODE };

/* Ids that the kernel does not know are 0, an unknown cluster is 65535, as in perf. Equal places compare equal byte by byte. */
struct cpu_place {
	int32_t socket, die, cluster, core, node;
	int32_t cache_level, cache;
};

/* The members that the kind needs; the others are 0. cache_level 0: the last level. */
void cpu_place_read(struct cpu_place *place, int32_t cpu, enum cpu_place_kind kind, int cache_level);
