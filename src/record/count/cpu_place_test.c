#include "record/count/cpu_place.h"

#include "os/test_planted.h"

#define CPU "/sys/devices/system/cpu"

static void answer_places(struct str *out)
{
	static const enum cpu_place_kind kinds[] = { CPU_PLACE_CORE, CPU_PLACE_CLUSTER, CPU_PLACE_DIE, CPU_PLACE_SOCKET, CPU_PLACE_NODE,
		CPU_PLACE_CACHE, CPU_PLACE_CACHE, CPU_PLACE_CACHE, CPU_PLACE_CACHE };
	static const int levels[] = { 0, 0, 0, 0, 0, 0, 1, 2, 4 };
	for (int32_t cpu = 5; cpu < 7; cpu++)
		for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
			struct cpu_place p;
			cpu_place_read(&p, cpu, kinds[i], levels[i]);
			str_printf(out, "%d: %d %d %d %d %d %d %d\n", cpu, p.socket, p.die, p.cluster, p.core, p.node, p.cache_level, p.cache);
		}
}

TEST("a CPU has the ids that its kind of place needs, and caches by level; what the kernel does not know is as in perf")
{
	static const struct planted files[] = {
		{ CPU, NULL },
		{ CPU "/cpu5/topology/physical_package_id", "1\n" }, { CPU "/cpu5/topology/die_id", "2\n" }, { CPU "/cpu5/topology/cluster_id", "40\n" },
		{ CPU "/cpu5/topology/core_id", "3\n" }, { CPU "/cpu5/node4/x", "" },
		{ CPU "/cpu5/cache/index0/level", "1\n" }, { CPU "/cpu5/cache/index0/shared_cpu_list", "4-5\n" },
		{ CPU "/cpu5/cache/index1/level", "1\n" }, { CPU "/cpu5/cache/index1/shared_cpu_list", "3,5\n" },
		{ CPU "/cpu5/cache/index2/level", "3\n" }, { CPU "/cpu5/cache/index2/shared_cpu_list", "0-7\n" },
		{ CPU "/cpu5/cache/index3/level", "2\n" }, { CPU "/cpu5/cache/index3/shared_cpu_list", "none\n" },
		{ CPU "/cpu6/topology/physical_package_id", "-1\n" }, { CPU "/cpu6/topology/core_id", "9\n" },
	};
	expect_answer(files, sizeof files / sizeof *files, false, answer_places,
		"5: 1 2 0 3 0 0 0\n5: 1 2 40 0 0 0 0\n5: 1 2 0 0 0 0 0\n5: 1 0 0 0 0 0 0\n5: 0 0 0 0 4 0 0\n"
		"5: 1 2 0 0 0 3 0\n5: 1 2 0 0 0 1 4\n5: 1 2 0 0 0 2 5\n5: 1 2 0 0 0 0 0\n"
		"6: 0 0 0 9 0 0 0\n6: 0 0 65535 0 0 0 0\n6: 0 0 0 0 0 0 0\n6: 0 0 0 0 0 0 0\n6: 0 0 0 0 0 0 0\n"
		"6: 0 0 0 0 0 0 0\n6: 0 0 0 0 0 0 0\n6: 0 0 0 0 0 0 0\n6: 0 0 0 0 0 0 0\n");
}
