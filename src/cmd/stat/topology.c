#include "cmd/stat/topology.h"

#include "os/cpus.h"

void recorded_topology_read(struct recorded_topology *t, const struct header *header)
{
	*t = (struct recorded_topology){ 0 };
	feature_cpu_topology(header, &t->arena, &t->cpus);
	feature_numa(header, &t->arena, &t->nodes);
	feature_caches(header, &t->arena, &t->caches);
}

void recorded_topology_fini(struct recorded_topology *t)
{
	arena_fini(&t->arena);
}

/* The first CPU of a list; -1: the list does not have the CPU. */
static int32_t first_with(const char *text, int32_t cpu)
{
	struct cpus cpus = { 0 };
	bool has = cpus_parse(&cpus, text, NULL) == 0 && cpus_has(&cpus, cpu);
	int32_t first = has ? cpus.list.items[0] : -1;
	cpus_fini(&cpus);
	return first;
}

static void find_cache(const struct recorded_topology *t, struct cpu_place *place, int32_t cpu, int level)
{
	place->cache_level = level;
	place->cache = -1;
	for (uint32_t i = t->caches.count; i-- > 0;) {
		const struct feature_cache *cache = &t->caches.caches[i];
		if (level && cache->level != (uint32_t)level)
			continue;
		int32_t first = first_with(cache->map, cpu);
		if (first < 0)
			continue;
		place->cache_level = (int32_t)cache->level;
		place->cache = first;
		return;
	}
}

/* perf prints the place of the node in the list, not its number. */
static int32_t node_of(const struct recorded_topology *t, int32_t cpu)
{
	int32_t node = -1;
	for (uint32_t i = 0; i < t->nodes.count; i++)
		if (first_with(t->nodes.nodes[i].cpus, cpu) >= 0)
			node = (int32_t)i;
	return node;
}

static const struct cpu_place nowhere = { -1, -1, -1, -1, -1, -1, -1 };

void unrecorded_place(void *context, struct cpu_place *place, int32_t cpu, enum cpu_place_kind kind, int cache_level)
{
	*place = nowhere;
	if (cpu >= 0 && kind != CPU_PLACE_NODE)
		cpu_place_read(place, cpu, kind, cache_level);
}

void recorded_place(void *context, struct cpu_place *place, int32_t cpu, enum cpu_place_kind kind, int cache_level)
{
	const struct recorded_topology *t = context;
	*place = nowhere;
	if (kind == CPU_PLACE_NODE) {
		place->node = node_of(t, cpu);
		return;
	}
	if (cpu < 0 || (uint32_t)cpu >= t->cpus.cpu_count || !t->cpus.cpus)
		return;
	const struct feature_cpu *of = &t->cpus.cpus[cpu];
	place->socket = (int32_t)of->socket;
	if (kind == CPU_PLACE_SOCKET)
		return;
	place->die = (int32_t)of->die;
	if (kind == CPU_PLACE_CLUSTER || kind == CPU_PLACE_CORE)
		place->cluster = 0; /* recordings do not have it */
	if (kind == CPU_PLACE_CORE)
		place->core = (int32_t)of->core;
	if (kind == CPU_PLACE_CACHE)
		find_cache(t, place, cpu, cache_level);
}
