#include "cmd/stat/topology.h"

#include "os/cpus.h"

/* CPUs of all lists of a recording: a hostile one has very many long ones. */
enum { LISTED_MAX = 1 << 22 };

static uint64_t cache_key(uint32_t level, int32_t cpu)
{
	return (uint64_t)level << 32 | (uint32_t)cpu;
}

/* false: the list is invalid or empty, or there are too many. */
static bool parse_list(const char *text, size_t *listed, struct cpus *cpus)
{
	if (*listed > LISTED_MAX || cpus_parse(cpus, text, NULL) < 0)
		return false;
	*listed += cpus->list.count + 1;
	return cpus->list.count;
}

/* Where several contain a CPU, the last one counts. */
void recorded_topology_index(struct recorded_topology *t)
{
	size_t listed = 0;
	for (uint32_t i = 0; i < t->nodes.count; i++) {
		struct cpus cpus = { 0 };
		bool valid = parse_list(t->nodes.nodes[i].cpus, &listed, &cpus);
		for (size_t k = 0; valid && k < cpus.list.count; k++)
			idmap_set(&t->node_of, (uint32_t)cpus.list.items[k], i);
		cpus_fini(&cpus);
	}
	for (uint32_t i = 0; i < t->caches.count; i++) {
		struct cpus cpus = { 0 };
		bool valid = parse_list(t->caches.caches[i].map, &listed, &cpus);
		for (size_t k = 0; valid && k < cpus.list.count; k++) {
			idmap_set(&t->cache_of, cache_key(0, cpus.list.items[k]), i);
			idmap_set(&t->cache_of, cache_key(t->caches.caches[i].level, cpus.list.items[k]), i);
		}
		vec_push(&t->cache_firsts, valid ? cpus.list.items[0] : -1);
		cpus_fini(&cpus);
	}
}

void recorded_topology_read(struct recorded_topology *t, const struct header *header)
{
	*t = (struct recorded_topology){ 0 };
	feature_cpu_topology(header, &t->arena, &t->cpus);
	feature_numa(header, &t->arena, &t->nodes);
	feature_caches(header, &t->arena, &t->caches);
	recorded_topology_index(t);
}

void recorded_topology_fini(struct recorded_topology *t)
{
	idmap_fini(&t->node_of);
	idmap_fini(&t->cache_of);
	vec_fini(&t->cache_firsts);
	arena_fini(&t->arena);
}

static void find_cache(const struct recorded_topology *t, struct cpu_place *place, int32_t cpu, int level)
{
	uint32_t cache = idmap_get(&t->cache_of, cache_key((uint32_t)level, cpu));
	place->cache_level = cache == IDMAP_NONE ? level : (int32_t)t->caches.caches[cache].level;
	place->cache = cache == IDMAP_NONE ? -1 : t->cache_firsts.items[cache];
}

/* perf prints the place of the node in the list, not its number. */
static int32_t node_of(const struct recorded_topology *t, int32_t cpu)
{
	uint32_t node = idmap_get(&t->node_of, (uint32_t)cpu);
	return node == IDMAP_NONE ? -1 : (int32_t)node;
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
