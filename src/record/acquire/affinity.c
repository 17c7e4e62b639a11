#include "record/acquire/affinity.h"

#include <sched.h>

#include "os/topology.h"

void affinity_open(struct affinity *affinity, bool by_node)
{
	*affinity = (struct affinity){ .cpu = -1 };
	if (!by_node)
		return;
	struct topology topology;
	topology_read(&topology);
	for (size_t i = 0; i < topology.nodes.count; i++)
		if (topology.nodes.items[i].cpus)
			cpus_parse((struct cpus *)vec_add(&affinity->nodes), topology.nodes.items[i].cpus, NULL);
	topology_fini(&topology);
}

void affinity_close(struct affinity *affinity)
{
	for (size_t i = 0; i < affinity->nodes.count; i++)
		cpus_fini(&affinity->nodes.items[i]);
	vec_fini(&affinity->nodes);
}

bool affinity_set(const int32_t *cpus, size_t count)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	for (size_t i = 0; i < count; i++)
		if (cpus[i] >= 0 && cpus[i] < CPU_SETSIZE)
			CPU_SET((unsigned)cpus[i], &set);
	return CPU_COUNT(&set) && sched_setaffinity(0, sizeof set, &set) == 0;
}

void affinity_follow(struct affinity *affinity, int32_t cpu)
{
	if (cpu < 0 || cpu == affinity->cpu)
		return;
	const struct cpus *node = NULL;
	for (size_t i = 0; i < affinity->nodes.count && !node; i++)
		if (cpus_has(&affinity->nodes.items[i], cpu))
			node = &affinity->nodes.items[i];
	if (node && affinity->cpu >= 0 && cpus_has(node, affinity->cpu))
		return;
	if (affinity_set(node ? node->list.items : &cpu, node ? node->list.count : 1))
		affinity->cpu = cpu;
}
