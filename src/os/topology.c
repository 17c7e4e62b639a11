#include "os/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/cpus.h"
#include "os/file.h"

enum { BLOCK_MAX = 1 << 24, CACHE_INDEX_MAX = 10 };

static const char *keep(struct topology *topology, const char *text)
{
	return arena_string(&topology->arena, text, strlen(text));
}

static bool cpu_line(unsigned cpu, const char *name, char *line, size_t size)
{
	char path[128];
	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/%s", cpu, name);
	return file_line(path, line, size);
}

static int32_t cpu_number(unsigned cpu, const char *name)
{
	char line[64];
	return cpu_line(cpu, name, line, sizeof line) ? (int32_t)strtol(line, NULL, 0) : -1;
}

static void add_once(struct topology *topology, struct topology_lists *lists, const char *text)
{
	for (size_t i = 0; i < lists->list.count; i++)
		if (strcmp(lists->list.items[i], text) == 0)
			return;
	vec_push(&lists->list, keep(topology, text));
}

static void read_cpus(struct topology *topology)
{
	const struct {
		const char *newer, *older; /* names of the same file in newer and older kernels */
		struct topology_lists *lists;
	} siblings[] = {
		{ "topology/package_cpus_list", "topology/core_siblings_list", &topology->packages },
		{ "topology/die_cpus_list", "topology/die_cpus_list", &topology->dies },
		{ "topology/core_cpus_list", "topology/thread_siblings_list", &topology->cores },
	};
	unsigned count = cpus_present_count();
	for (unsigned cpu = 0; cpu < count; cpu++) {
		struct topology_cpu *entry = vec_add(&topology->cpus);
		entry->core = cpu_number(cpu, "topology/core_id");
		entry->package = cpu_number(cpu, "topology/physical_package_id");
		entry->die = cpu_number(cpu, "topology/die_id");
		for (size_t i = 0; i < sizeof siblings / sizeof siblings[0]; i++) {
			char line[4096];
			if (cpu_line(cpu, siblings[i].newer, line, sizeof line) || cpu_line(cpu, siblings[i].older, line, sizeof line))
				add_once(topology, siblings[i].lists, line);
		}
	}
}

static uint64_t meminfo_kb(const char *text, const char *label)
{
	const char *at = strstr(text, label);
	return at ? strtoull(at + strlen(label), NULL, 10) : 0;
}

static void read_blocks(struct topology *topology, struct topology_node *node, const char *folder)
{
	CLEANUP_NAMES struct names names = { 0 };
	if (folder_names(folder, &names, NULL) < 0)
		return;
	uint64_t bits = 1; /* as in perf, also of a node without memory */
	for (int pass = 0; pass < 2; pass++) {
		uint64_t *blocks = pass ? arena_alloc(&topology->arena, (bits + 63) / 64 * 8) : NULL;
		for (size_t i = 0; i < names.list.count; i++) {
			char *end;
			if (strncmp(names.list.items[i], "memory", 6) != 0)
				continue;
			unsigned long block = strtoul(names.list.items[i] + 6, &end, 10);
			if (*end || end == names.list.items[i] + 6 || block >= BLOCK_MAX)
				continue;
			if (pass)
				blocks[block / 64] |= (uint64_t)1 << (block % 64);
			else if (block + 1 > bits)
				bits = block + 1;
		}
		node->blocks = blocks;
	}
	node->block_bits = bits;
}

static int compare_nodes(const void *a, const void *b)
{
	const struct topology_node *x = a, *y = b;
	return (x->id > y->id) - (x->id < y->id);
}

static void read_nodes(struct topology *topology)
{
	static const char root[] = "/sys/devices/system/node";
	CLEANUP_NAMES struct names names = { 0 };
	char line[64];
	if (file_line("/sys/devices/system/memory/block_size_bytes", line, sizeof line))
		topology->block_size = strtoull(line, NULL, 16);
	if (folder_names(root, &names, NULL) < 0)
		return;
	for (size_t i = 0; i < names.list.count; i++) {
		char *end, path[512], cpus[4096];
		CLEANUP_STR struct str text = { 0 };
		if (strncmp(names.list.items[i], "node", 4) != 0)
			continue;
		unsigned long id = strtoul(names.list.items[i] + 4, &end, 10);
		if (*end || end == names.list.items[i] + 4)
			continue;
		struct topology_node *node = vec_add(&topology->nodes);
		node->id = (uint32_t)id;
		snprintf(path, sizeof path, "%s/node%lu/meminfo", root, id);
		if (file_read(path, &text, 1 << 20, NULL) == 0) {
			node->memory_kb = meminfo_kb(str_text(&text), "MemTotal:");
			node->free_kb = meminfo_kb(str_text(&text), "MemFree:");
		}
		snprintf(path, sizeof path, "%s/node%lu/cpulist", root, id);
		node->cpus = keep(topology, file_line(path, cpus, sizeof cpus) ? cpus : "");
		snprintf(path, sizeof path, "%s/node%lu", root, id);
		read_blocks(topology, node, path);
	}
	if (topology->nodes.count)
		qsort(topology->nodes.items, topology->nodes.count, sizeof topology->nodes.items[0], compare_nodes);
}

static bool read_cache(struct topology *topology, unsigned cpu, unsigned index, struct topology_cache *cache)
{
	static const char *const texts[] = { "type", "size", "shared_cpu_list" };
	static const char *const numbers[] = { "level", "coherency_line_size", "number_of_sets", "ways_of_associativity" };
	const char **text[] = { &cache->type, &cache->size, &cache->cpus };
	uint32_t *number[] = { &cache->level, &cache->line_size, &cache->sets, &cache->ways };
	char name[64], line[4096];
	for (size_t i = 0; i < 4; i++) {
		snprintf(name, sizeof name, "cache/index%u/%s", index, numbers[i]);
		if (!cpu_line(cpu, name, line, sizeof line))
			return false;
		*number[i] = (uint32_t)strtoul(line, NULL, 10);
	}
	for (size_t i = 0; i < 3; i++) {
		snprintf(name, sizeof name, "cache/index%u/%s", index, texts[i]);
		if (!cpu_line(cpu, name, line, sizeof line))
			return false;
		*text[i] = keep(topology, line);
	}
	return true;
}

static bool cache_known(const struct topology *topology, const struct topology_cache *cache)
{
	for (size_t i = 0; i < topology->caches.count; i++) {
		const struct topology_cache *other = &topology->caches.items[i];
		if (other->level == cache->level && strcmp(other->type, cache->type) == 0 && strcmp(other->size, cache->size) == 0 &&
		    strcmp(other->cpus, cache->cpus) == 0 && other->line_size == cache->line_size && other->sets == cache->sets &&
		    other->ways == cache->ways)
			return true;
	}
	return false;
}

static void read_caches(struct topology *topology)
{
	unsigned count = cpus_present_count();
	for (unsigned cpu = 0; cpu < count; cpu++) {
		for (unsigned index = 0; index < CACHE_INDEX_MAX; index++) {
			struct topology_cache cache;
			if (!read_cache(topology, cpu, index, &cache))
				break;
			if (cache_known(topology, &cache))
				continue;
			/* stable order by level */
			vec_push(&topology->caches, cache);
			size_t at = topology->caches.count - 1;
			for (; at && topology->caches.items[at - 1].level > cache.level; at--)
				topology->caches.items[at] = topology->caches.items[at - 1];
			topology->caches.items[at] = cache;
		}
	}
}

void topology_read(struct topology *topology)
{
	*topology = (struct topology){ 0 };
	read_cpus(topology);
	read_nodes(topology);
	read_caches(topology);
}

void topology_fini(struct topology *topology)
{
	vec_fini(&topology->cpus);
	vec_fini(&topology->packages.list);
	vec_fini(&topology->dies.list);
	vec_fini(&topology->cores.list);
	vec_fini(&topology->nodes);
	vec_fini(&topology->caches);
	arena_fini(&topology->arena);
}
