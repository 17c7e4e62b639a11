#include "os/topology.h"

#include "os/test_planted.h"

#define CPU "/sys/devices/system/cpu"
#define NODE "/sys/devices/system/node"
#define MEMORY "/sys/devices/system/memory"
#define LISTS(cpu, package, die, core)                                                             \
	{ CPU "/cpu" #cpu "/topology/package_cpus_list", package "\n" }, { CPU "/cpu" #cpu "/topology/die_cpus_list", die "\n" }, \
		{ CPU "/cpu" #cpu "/topology/core_cpus_list", core "\n" }
#define CACHE(cpu, index, level, type, size, cpus)                                                 \
	{ CPU "/cpu" #cpu "/cache/index" #index "/level", level "\n" }, { CPU "/cpu" #cpu "/cache/index" #index "/type", type "\n" }, \
		{ CPU "/cpu" #cpu "/cache/index" #index "/size", size "\n" },                      \
		{ CPU "/cpu" #cpu "/cache/index" #index "/shared_cpu_list", cpus "\n" },           \
		{ CPU "/cpu" #cpu "/cache/index" #index "/coherency_line_size", "64\n" },          \
		{ CPU "/cpu" #cpu "/cache/index" #index "/number_of_sets", "512\n" },              \
		{ CPU "/cpu" #cpu "/cache/index" #index "/ways_of_associativity", "8\n" }

static void add_lists(struct str *out, const struct topology_lists *lists)
{
	for (size_t i = 0; i < lists->list.count; i++)
		str_printf(out, "%s%s", i ? " " : "", lists->list.items[i]);
	str_putc(out, '\n');
}

static void answer_topology(struct str *out)
{
	struct topology t;
	topology_read(&t);
	for (size_t i = 0; i < t.cpus.count; i++)
		str_printf(out, "%d/%d/%d ", t.cpus.items[i].core, t.cpus.items[i].package, t.cpus.items[i].die);
	str_printf(out, "block %llx\n", (unsigned long long)t.block_size);
	add_lists(out, &t.packages);
	add_lists(out, &t.dies);
	add_lists(out, &t.cores);
	for (size_t i = 0; i < t.nodes.count; i++) {
		const struct topology_node *node = &t.nodes.items[i];
		str_printf(out, "node %u %llu %llu %s %llu:", node->id, (unsigned long long)node->memory_kb,
			   (unsigned long long)node->free_kb, node->cpus, (unsigned long long)node->block_bits);
		for (uint64_t bit = 0; bit < node->block_bits; bit += 64)
			str_printf(out, " %llx", (unsigned long long)node->blocks[bit / 64]);
		str_putc(out, '\n');
	}
	for (size_t i = 0; i < t.caches.count; i++) {
		const struct topology_cache *cache = &t.caches.items[i];
		str_printf(out, "L%u %s %s %s %u %u %u\n", cache->level, cache->type, cache->size, cache->cpus, cache->line_size,
			   cache->sets, cache->ways);
	}
	topology_fini(&t);
}

TEST("cores, packages, dies, nodes, blocks of memory and caches are those of sysfs, each once, in the order of their numbers and levels")
{
	static const struct planted files[] = {
		{ CPU, NULL }, { CPU "/present", "0-2\n" }, { CPU "/possible", "0-3\n" }, { CPU "/online", "0-1\n" },
		LISTS(0, "0-1", "0-1", "0"), LISTS(1, "0-1", "0-1", "1"),
		{ CPU "/cpu0/topology/core_id", "4\n" }, { CPU "/cpu0/topology/physical_package_id", "1\n" }, { CPU "/cpu0/topology/die_id", "2\n" },
		{ CPU "/cpu1/topology/core_id", "5\n" }, { CPU "/cpu1/topology/physical_package_id", "1\n" },
		{ CPU "/cpu2/topology/core_siblings_list", "2\n" }, { CPU "/cpu2/topology/thread_siblings_list", "2\n" },
		CACHE(0, 0, "1", "Data", "32K", "0"), CACHE(0, 1, "3", "Unified", "8M", "0-1"), CACHE(0, 2, "2", "Unified", "1M", "0-1"),
		CACHE(1, 0, "1", "Data", "32K", "1"), CACHE(1, 1, "3", "Unified", "8M", "0-1"), CACHE(1, 3, "1", "Instruction", "32K", "1"),
		{ NODE, NULL }, { NODE "/online", "0-2\n" }, { NODE "/node2/cpulist", "\n" }, { NODE "/node2/memory70/state", "" },
		{ NODE "/node2/memory64/state", "" }, { NODE "/node2/meminfo", "Node 2 MemTotal:  300 kB\nNode 2 MemFree:  20 kB\n" },
		{ NODE "/node0/cpulist", "0-1\n" }, { NODE "/node0/memory0/state", "" }, { NODE "/node0/memory63/state", "" },
		{ NODE "/node0/memory_failure/total", "" }, { NODE "/node1/cpulist", "2\n" }, { NODE "/nodes/x", "" }, { NODE "/node/x", "" },
		{ MEMORY, NULL }, { MEMORY "/block_size_bytes", "8000000\n" },
	};
	expect_answer(files, sizeof files / sizeof *files, false, answer_topology,
		"4/1/2 5/1/-1 -1/-1/-1 block 8000000\n0-1 2\n0-1\n0 1 2\n"
		"node 0 0 0 0-1 64: 8000000000000001\nnode 1 0 0 2 1: 0\nnode 2 300 20  71: 0 41\n"
		"L1 Data 32K 0 64 512 8\nL1 Data 32K 1 64 512 8\nL2 Unified 1M 0-1 64 512 8\nL3 Unified 8M 0-1 64 512 8\n");
}
