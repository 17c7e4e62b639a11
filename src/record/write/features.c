#include "record/write/features.h"

#include <string.h>

#include "os/cpus.h"
#include "os/file.h"
#include "os/machine.h"
#include "os/topology.h"
#include "record/acquire/programs.h"
#include "record/acquire/record_out.h"

/* The inputs of the functions that make single features. */
struct making {
	const struct feature_facts *facts;
	struct topology topology;
	struct machine_names names;
	struct writer *out;
};

static bool make_tracing(struct making *m)
{
	writer_add(m->out, m->facts->tracing.data, m->facts->tracing.len);
	return m->facts->tracing.len != 0;
}

static bool make_build_ids(struct making *m)
{
	writer_add(m->out, m->facts->build_ids.data, m->facts->build_ids.len);
	return m->facts->build_ids.data != NULL;
}

static bool make_perf_maps(struct making *m)
{
	writer_add(m->out, m->facts->perf_maps.data, m->facts->perf_maps.len);
	return m->facts->perf_maps.len != 0;
}

static bool make_hostname(struct making *m)
{
	out_feature_text(m->out, m->names.host);
	return true;
}

static bool make_release(struct making *m)
{
	out_feature_text(m->out, m->names.release);
	return true;
}

static bool make_version(struct making *m)
{
	out_feature_text(m->out, m->facts->version);
	return true;
}

static bool make_arch(struct making *m)
{
	out_feature_text(m->out, m->names.arch);
	return true;
}

static bool make_cpu_count(struct making *m)
{
	out_u32(m->out, cpus_present_count());
	out_u32(m->out, cpus_online_count());
	return true;
}

static bool make_machine_text(struct making *m, bool read(char *text, size_t size))
{
	char text[256];
	if (!read(text, sizeof text))
		return false;
	out_feature_text(m->out, text);
	return true;
}

static bool make_processor(struct making *m)
{
	return make_machine_text(m, machine_processor);
}

static bool make_processor_id(struct making *m)
{
	return make_machine_text(m, machine_processor_id);
}

static bool make_memory(struct making *m)
{
	out_u64(m->out, machine_memory_kb());
	return true;
}

static bool make_command(struct making *m)
{
	uint32_t count = 0;
	while (m->facts->command[count])
		count++;
	out_u32(m->out, count);
	for (uint32_t i = 0; i < count; i++)
		out_feature_text(m->out, m->facts->command[i]);
	return true;
}

static bool make_events(struct making *m)
{
	const struct evlist *evlist = m->facts->evlist;
	uint32_t size = data_attr_size(evlist);
	out_u32(m->out, (uint32_t)evlist->events.count);
	out_u32(m->out, size);
	for (size_t i = 0; i < evlist->events.count; i++) {
		const struct evsel *evsel = &evlist->events.items[i];
		struct attr attr = evsel->attr;
		uint8_t bytes[ATTR_SIZE_VER9];
		attr.size = size;
		attr_encode(&attr, bytes);
		writer_add(m->out, bytes, size);
		out_u32(m->out, (uint32_t)evsel->id_count);
		out_feature_text(m->out, evsel->name ? evsel->name : "");
		writer_add(m->out, evsel->ids, evsel->id_count * 8);
	}
	return true;
}

static void out_lists(struct writer *out, const struct topology_lists *lists)
{
	out_u32(out, (uint32_t)lists->list.count);
	for (size_t i = 0; i < lists->list.count; i++)
		out_feature_text(out, lists->list.items[i]);
}

static bool make_topology(struct making *m)
{
	const struct topology *topology = &m->topology;
	out_lists(m->out, &topology->packages);
	out_lists(m->out, &topology->cores);
	for (size_t i = 0; i < topology->cpus.count; i++) {
		out_u32(m->out, (uint32_t)topology->cpus.items[i].core);
		out_u32(m->out, (uint32_t)topology->cpus.items[i].package);
	}
	if (!topology->dies.list.count)
		return true;
	out_lists(m->out, &topology->dies);
	for (size_t i = 0; i < topology->cpus.count; i++)
		out_u32(m->out, (uint32_t)topology->cpus.items[i].die);
	return true;
}

static bool make_nodes(struct making *m)
{
	out_u32(m->out, (uint32_t)m->topology.nodes.count);
	for (size_t i = 0; i < m->topology.nodes.count; i++) {
		const struct topology_node *node = &m->topology.nodes.items[i];
		out_u32(m->out, node->id);
		out_u64(m->out, node->memory_kb);
		out_u64(m->out, node->free_kb);
		out_feature_text(m->out, node->cpus);
	}
	return m->topology.nodes.count != 0;
}

static bool make_branch_stack(struct making *m)
{
	return m->facts->branch_stack;
}

static bool make_counts(struct making *m)
{
	return m->facts->counts;
}

static bool make_pmus(struct making *m)
{
	struct pmus *pmus = &m->facts->events->pmus;
	pmus_read(pmus);
	out_u32(m->out, (uint32_t)pmus->list.count);
	for (size_t i = 0; i < pmus->list.count; i++) {
		out_u32(m->out, pmus->list.items[i]->type);
		out_feature_text(m->out, pmus->list.items[i]->name);
	}
	return true;
}

static bool make_groups(struct making *m)
{
	const struct events *events = m->facts->events;
	uint32_t count = 0;
	for (size_t i = 0; i < events->list.count; i++)
		count += events->list.items[i].members > 1;
	out_u32(m->out, count);
	for (size_t i = 0; i < events->list.count; i++) {
		const struct event *event = &events->list.items[i];
		if (event->members < 2)
			continue;
		out_feature_text(m->out, event->group_name ? event->group_name : "{anon_group}");
		out_u32(m->out, (uint32_t)i);
		out_u32(m->out, event->members);
	}
	return count != 0;
}

static bool make_caches(struct making *m)
{
	out_u32(m->out, 1); /* version */
	out_u32(m->out, (uint32_t)m->topology.caches.count);
	for (size_t i = 0; i < m->topology.caches.count; i++) {
		const struct topology_cache *cache = &m->topology.caches.items[i];
		out_u32(m->out, cache->level);
		out_u32(m->out, cache->line_size);
		out_u32(m->out, cache->sets);
		out_u32(m->out, cache->ways);
		out_feature_text(m->out, cache->type);
		out_feature_text(m->out, cache->size);
		out_feature_text(m->out, cache->cpus);
	}
	return m->topology.caches.count != 0;
}

static bool make_sample_time(struct making *m)
{
	out_u64(m->out, m->facts->first_time);
	out_u64(m->out, m->facts->last_time);
	return true;
}

static bool make_memory_blocks(struct making *m)
{
	out_u64(m->out, 1); /* version */
	out_u64(m->out, m->topology.block_size);
	out_u64(m->out, m->topology.nodes.count);
	for (size_t i = 0; i < m->topology.nodes.count; i++) {
		const struct topology_node *node = &m->topology.nodes.items[i];
		out_u64(m->out, node->id);
		out_u64(m->out, node->block_bits);
		out_u64(m->out, node->block_bits); /* once for the node, once for its bitmap */
		writer_add(m->out, node->blocks, (node->block_bits + 63) / 64 * 8);
	}
	return m->topology.block_size && m->topology.nodes.count;
}

static bool make_clockid(struct making *m)
{
	out_u64(m->out, clock_resolution_ns(m->facts->clockid));
	return m->facts->use_clockid;
}

static bool make_clock_data(struct making *m)
{
	enum { CLOCK_OF_DAY = 0 };
	out_u32(m->out, 1); /* version */
	out_u32(m->out, (uint32_t)m->facts->clockid);
	out_u64(m->out, clock_now_ns(CLOCK_OF_DAY));
	out_u64(m->out, clock_now_ns(m->facts->clockid));
	return m->facts->use_clockid;
}

static bool make_traces(struct making *m)
{
	out_u64(m->out, m->facts->trace_index.len / 16);
	writer_add(m->out, m->facts->trace_index.data, m->facts->trace_index.len);
	return m->facts->traces;
}

static bool make_directory(struct making *m)
{
	out_u64(m->out, 1);
	return m->facts->directory;
}

static bool make_programs(struct making *m)
{
	programs_info_body(m->facts->programs, m->out);
	return true;
}

static bool make_program_types(struct making *m)
{
	programs_types_body(m->facts->programs, m->out);
	return true;
}

static bool make_compression(struct making *m)
{
	out_u32(m->out, 0); /* version */
	out_u32(m->out, 1); /* zstd */
	out_u32(m->out, m->facts->compression_level);
	out_u32(m->out, m->facts->compression_ratio);
	out_u32(m->out, m->facts->ring_bytes);
	return m->facts->compressed;
}

static void out_capabilities(struct writer *out, const struct pmu *pmu)
{
	out_u32(out, (uint32_t)pmu->caps.count);
	for (size_t i = 0; i < pmu->caps.count; i++) {
		out_feature_text(out, pmu->caps.items[i].name);
		out_feature_text(out, pmu->caps.items[i].value);
	}
}

static bool make_cpu_capabilities(struct making *m)
{
	struct pmu *cpu = pmus_named(&m->facts->events->pmus, "cpu");
	if (!cpu)
		return false;
	out_capabilities(m->out, cpu);
	return true;
}

/* Of all other PMUs with capabilities, each followed by its name. */
static bool make_capabilities(struct making *m)
{
	struct pmus *pmus = &m->facts->events->pmus;
	size_t at = m->out->len;
	uint32_t count = 0;
	out_u32(m->out, 0);
	for (size_t i = 0; i < pmus->list.count; i++) {
		struct pmu *pmu = pmus->list.items[i];
		pmu_load(pmus, pmu);
		if (strcmp(pmu->name, "cpu") == 0 || !pmu->caps.count)
			continue;
		out_capabilities(m->out, pmu);
		out_feature_text(m->out, pmu->name);
		count++;
	}
	memcpy(m->out->buffer + at, &count, sizeof count);
	return true;
}

/* Core PMUs of several kinds: which CPUs each has. */
static bool make_hybrid(struct making *m)
{
	struct pmus *pmus = &m->facts->events->pmus;
	size_t at = m->out->len;
	uint32_t count = 0;
	out_u32(m->out, 0);
	for (size_t i = 0; i < pmus->list.count; i++) {
		struct pmu *pmu = pmus->list.items[i];
		if (!pmu->core)
			continue;
		CLEANUP_STR struct str cpus = { 0 };
		pmu_load(pmus, pmu);
		cpus_text(&pmu->cpus, &cpus);
		out_feature_text(m->out, pmu->name);
		out_feature_text(m->out, str_text(&cpus));
		count++;
	}
	memcpy(m->out->buffer + at, &count, sizeof count);
	return count > 1;
}

/* Each writes its body and returns whether the feature is present. */
static bool (*const makers[FEATURE_COUNT])(struct making *m) = {
	[FEATURE_TRACING_DATA] = make_tracing,
	[FEATURE_BUILD_ID] = make_build_ids,
	[FEATURE_HOSTNAME] = make_hostname,
	[FEATURE_OSRELEASE] = make_release,
	[FEATURE_VERSION] = make_version,
	[FEATURE_ARCH] = make_arch,
	[FEATURE_NRCPUS] = make_cpu_count,
	[FEATURE_CPUDESC] = make_processor,
	[FEATURE_CPUID] = make_processor_id,
	[FEATURE_TOTAL_MEM] = make_memory,
	[FEATURE_CMDLINE] = make_command,
	[FEATURE_EVENT_DESC] = make_events,
	[FEATURE_CPU_TOPOLOGY] = make_topology,
	[FEATURE_NUMA_TOPOLOGY] = make_nodes,
	[FEATURE_BRANCH_STACK] = make_branch_stack,
	[FEATURE_PMU_MAPPINGS] = make_pmus,
	[FEATURE_GROUP_DESC] = make_groups,
	[FEATURE_AUXTRACE] = make_traces,
	[FEATURE_STAT] = make_counts,
	[FEATURE_CACHE] = make_caches,
	[FEATURE_SAMPLE_TIME] = make_sample_time,
	[FEATURE_MEM_TOPOLOGY] = make_memory_blocks,
	[FEATURE_CLOCKID] = make_clockid,
	[FEATURE_DIR_FORMAT] = make_directory,
	[FEATURE_BPF_PROG_INFO] = make_programs,
	[FEATURE_BPF_BTF] = make_program_types,
	[FEATURE_COMPRESSED] = make_compression,
	[FEATURE_CPU_PMU_CAPS] = make_cpu_capabilities,
	[FEATURE_CLOCK_DATA] = make_clock_data,
	[FEATURE_HYBRID_TOPOLOGY] = make_hybrid,
	[FEATURE_PMU_CAPS] = make_capabilities,
	[FEATURE_PERF_MAPS] = make_perf_maps,
};

void features_make(struct features *features, const struct feature_facts *facts)
{
	*features = (struct features){ 0 };
	writer_open(&features->out, -1, 0);
	struct making making = { .facts = facts, .out = &features->out };
	topology_read(&making.topology);
	machine_names(&making.names);
	for (unsigned i = 0; i < FEATURE_COUNT; i++) {
		size_t at = features->out.len;
		if (!makers[i])
			continue;
		if (!makers[i](&making)) {
			features->out.len = at;
			continue;
		}
		features->present |= (uint64_t)1 << i;
		features->place[i].at = at;
		features->place[i].len = features->out.len - at;
	}
	topology_fini(&making.topology);
}

void features_fini(struct features *features)
{
	writer_fini(&features->out);
}

struct feature_bodies features_bodies(const struct features *features)
{
	struct feature_bodies bodies = { 0 };
	for (unsigned i = 0; i < FEATURE_COUNT; i++)
		if (features->present >> i & 1)
			feature_set(&bodies, (enum feature)i,
				(struct span){ (const uint8_t *)features->out.buffer + features->place[i].at, features->place[i].len });
	return bodies;
}

void features_records(const struct features *features, struct writer *out)
{
	for (unsigned i = 0; i < FEATURE_COUNT; i++) {
		bool own_record = i == FEATURE_TRACING_DATA || i == FEATURE_BUILD_ID || i == FEATURE_PERF_MAPS;
		if (!(features->present >> i & 1) || own_record || features->place[i].len > RECORD_SIZE_MAX - 16)
			continue;
		size_t at = record_open(out, RECORD_HEADER_FEATURE, 0);
		out_u64(out, i);
		writer_add(out, features->out.buffer + features->place[i].at, features->place[i].len);
		uint16_t size = (uint16_t)(out->len - at);
		memcpy(out->buffer + at + 6, &size, sizeof size);
	}
	size_t at = record_open(out, RECORD_HEADER_FEATURE, 0);
	out_u64(out, FEATURE_END);
	record_close(out, at, 0);
}
