#include "record/count/cpu_place.h"

#include <stdio.h>
#include <stdlib.h>

#include "os/cpus.h"
#include "os/file.h"

enum { CACHE_INDEX_MAX = 10, CLUSTER_UNKNOWN = 65535 };

static int32_t number(int32_t cpu, const char *name, int32_t unknown)
{
	char path[128];
	int64_t value;
	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/%s", cpu, name);
	return file_number(path, &value) && value >= 0 ? (int32_t)value : unknown;
}

/* The first CPU that shares a cache, by which perf names the cache. */
static int32_t first_sharer(int32_t cpu, int index)
{
	char path[128], text[4096];
	struct cpus cpus = { 0 };
	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, index);
	if (file_line(path, text, sizeof text))
		cpus_parse(&cpus, text, NULL);
	int32_t first = cpus.list.count ? cpus.list.items[0] : cpu;
	cpus_fini(&cpus);
	return first;
}

/* The cache of the wanted level, or of the highest one (0). */
static void read_cache(struct cpu_place *place, int32_t cpu, int wanted)
{
	for (int index = 0; index < CACHE_INDEX_MAX; index++) {
		char name[64];
		snprintf(name, sizeof name, "cache/index%d/level", index);
		int32_t level = number(cpu, name, -1);
		if (level <= place->cache_level || (wanted && level != wanted))
			continue;
		place->cache_level = level;
		place->cache = first_sharer(cpu, index);
	}
}

static int32_t node_of(int32_t cpu)
{
	CLEANUP_NAMES struct names names = { 0 };
	char path[64];
	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d", cpu);
	if (folder_names(path, &names, NULL) < 0)
		return 0;
	for (size_t i = 0; i < names.list.count; i++) {
		int node;
		if (sscanf(names.list.items[i], "node%d", &node) == 1)
			return node;
	}
	return 0;
}

void cpu_place_read(struct cpu_place *place, int32_t cpu, enum cpu_place_kind kind, int cache_level)
{
	*place = (struct cpu_place){ 0 };
	if (kind == CPU_PLACE_NODE) {
		place->node = node_of(cpu);
		return;
	}
	place->socket = number(cpu, "topology/physical_package_id", 0);
	if (kind == CPU_PLACE_SOCKET)
		return;
	place->die = number(cpu, "topology/die_id", 0);
	if (kind == CPU_PLACE_CLUSTER)
		place->cluster = number(cpu, "topology/cluster_id", CLUSTER_UNKNOWN);
	if (kind == CPU_PLACE_CORE)
		place->core = number(cpu, "topology/core_id", 0);
	if (kind == CPU_PLACE_CACHE)
		read_cache(place, cpu, cache_level);
}
