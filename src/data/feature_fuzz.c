/* Header features: the first byte selects the feature and its byte order, the rest is its body. Data that several features share comes from
 * the same bytes. */
#include "data/feature.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t text_sum(const struct feature_strings *texts)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < texts->count; i++)
		sum += strlen(texts->items[i]);
	return sum;
}

static uint64_t lists_sum(const struct header *header, struct arena *arena)
{
	uint64_t sum = 0;
	struct feature_strings words;
	struct feature_cpu_topology topology;
	struct feature_numa numa;
	struct feature_pmus pmus;
	struct feature_caches caches;
	struct feature_memory memory;
	feature_cmdline(header, arena, &words);
	sum += text_sum(&words);
	feature_cpu_topology(header, arena, &topology);
	sum += text_sum(&topology.sockets) + text_sum(&topology.dies) + text_sum(&topology.threads);
	for (uint32_t i = 0; topology.cpus && i < topology.cpu_count; i++)
		sum += topology.cpus[i].die;
	feature_numa(header, arena, &numa);
	for (uint32_t i = 0; i < numa.count; i++)
		sum += strlen(numa.nodes[i].cpus);
	feature_pmus(header, arena, &pmus);
	for (uint32_t i = 0; i < pmus.count; i++)
		sum += strlen(pmus.pmus[i].name);
	feature_caches(header, arena, &caches);
	for (uint32_t i = 0; i < caches.count; i++)
		sum += strlen(caches.caches[i].type) + strlen(caches.caches[i].size) + strlen(caches.caches[i].map);
	feature_memory(header, arena, &memory);
	for (uint32_t i = 0; i < memory.count; i++)
		for (uint64_t block = 0; block < memory.nodes[i].blocks; block += 64)
			sum += memory.nodes[i].set[block / 64];
	return sum;
}

static uint64_t others_sum(const struct header *header, struct arena *arena)
{
	uint64_t sum = 0;
	struct feature_capabilities cpu;
	struct feature_domains domains;
	struct feature_pmu_capabilities capabilities;
	struct feature_hybrid hybrid;
	struct feature_events events;
	struct feature_bpf bpf;
	struct feature_btf btf;
	feature_cpu_capabilities(header, arena, &cpu);
	sum += text_sum(&cpu.pairs);
	feature_domains(header, arena, &domains);
	for (uint32_t i = 0; i < domains.count; i++)
		sum += strlen(domains.domains[i].name) + strlen(domains.domains[i].mask) + strlen(domains.domains[i].cpus);
	feature_pmu_capabilities(header, arena, &capabilities);
	for (uint32_t i = 0; i < capabilities.count; i++)
		sum += text_sum(&capabilities.pmus[i].pairs) + strlen(capabilities.pmus[i].pmu);
	feature_hybrid(header, arena, &hybrid);
	for (uint32_t i = 0; i < hybrid.count; i++)
		sum += strlen(hybrid.nodes[i].pmu) + strlen(hybrid.nodes[i].cpus);
	feature_events(header, arena, &events);
	for (uint32_t i = 0; i < events.count; i++)
		for (uint32_t k = 0; k < events.events[i].id_count; k++)
			sum += events.events[i].ids[k];
	feature_bpf(header, arena, &bpf);
	for (uint32_t i = 0; i < bpf.count; i++)
		for (uint32_t k = 0; k < bpf.programs[i].count; k++)
			sum += strlen(bpf.programs[i].functions[k].name);
	feature_btf(header, arena, &btf);
	for (uint32_t i = 0; i < btf.count; i++)
		sum += btf.ids[i];
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	struct header header = { .swapped = data[0] & 0x80 };
	unsigned feature = data[0] & 0x1f ? data[0] & 0x1f : FEATURE_CPU_DOMAIN_INFO; /* 0 is the number of no feature */
	struct span body = { data + 1, size - 1 };
	header.features[0] = 1ull << feature;
	header.feature_data[feature] = body;
	/* Topologies count CPUs in another feature, and programs have their types in another feature. */
	if (feature == FEATURE_CPU_TOPOLOGY && body.len > 8) {
		header.feature_data[FEATURE_NRCPUS] = (struct span){ body.data, 8 };
		header.feature_data[feature] = (struct span){ body.data + 8, body.len - 8 };
	}
	if (feature == FEATURE_BPF_PROG_INFO && body.len > 2) {
		size_t types = (body.data[0] | (size_t)body.data[1] << 8) % (body.len - 1);
		header.feature_data[FEATURE_BPF_BTF] = (struct span){ body.data + 2, types > 2 ? types - 2 : 0 };
		header.feature_data[feature] = (struct span){ body.data + types, body.len - types };
	}
	struct arena arena = { 0 };
	volatile uint64_t sum = lists_sum(&header, &arena) + others_sum(&header, &arena);
	(void)sum;
	arena_fini(&arena);
	return 0;
}
