#include "cmd/stat/topology.h"

#include "os/cpus.h"
#include "unit.h"

static void expect_cache(struct recorded_topology *t, int32_t cpu, int level, int want_level, int want)
{
	struct cpu_place place;
	recorded_place(t, &place, cpu, CPU_PLACE_CACHE, level);
	EXPECT_INT(place.cache_level, want_level);
	EXPECT_INT(place.cache, want);
}

TEST("the last cache of a level with a CPU is its cache, named by the first CPU; without a level the last of all")
{
	static const struct feature_cpu places[8] = { 0 };
	static const struct feature_cache caches[] = {
		{ .level = 1, .map = "0" }, { .level = 1, .map = "2-3" }, { .level = 1, .map = "3" }, { .level = 2, .map = "2-5" },
		{ .level = 3, .map = "4-" },
	};
	struct recorded_topology t = { .cpus = { .cpu_count = 8, .cpus = places }, .caches = { 5, caches } };
	recorded_topology_index(&t);
	expect_cache(&t, 2, 1, 1, 2);
	expect_cache(&t, 3, 1, 1, 3);
	expect_cache(&t, 3, 0, 2, 2);
	expect_cache(&t, 0, 0, 1, 0);
	expect_cache(&t, 4, 3, 3, -1);
	expect_cache(&t, 7, 0, 0, -1);
	recorded_topology_fini(&t);
}

TEST("nodes with lists of all CPUs are read once each")
{
	enum { NODES = 40 };
	struct feature_numa_node nodes[NODES];
	struct recorded_topology t = { .nodes = { NODES, nodes } };
	struct cpu_place place;
	for (int i = 0; i < NODES; i++)
		nodes[i] = (struct feature_numa_node){ .node = 7, .cpus = i < 2 ? "5-65535" : "9-65535" };
	recorded_topology_index(&t);
	for (int32_t cpu = 0; cpu < CPUS_MAX; cpu++) {
		recorded_place(&t, &place, cpu, CPU_PLACE_NODE, 0);
		EXPECT_INT(place.node, cpu < 5 ? -1 : cpu < 9 ? 1 : NODES - 1);
	}
	recorded_topology_fini(&t);
}
