#include "data/header.h"

static const char *const feature_names[FEATURE_COUNT] = {
	[FEATURE_TRACING_DATA] = "TRACING_DATA",
	[FEATURE_BUILD_ID] = "BUILD_ID",
	[FEATURE_HOSTNAME] = "HOSTNAME",
	[FEATURE_OSRELEASE] = "OSRELEASE",
	[FEATURE_VERSION] = "VERSION",
	[FEATURE_ARCH] = "ARCH",
	[FEATURE_NRCPUS] = "NRCPUS",
	[FEATURE_CPUDESC] = "CPUDESC",
	[FEATURE_CPUID] = "CPUID",
	[FEATURE_TOTAL_MEM] = "TOTAL_MEM",
	[FEATURE_CMDLINE] = "CMDLINE",
	[FEATURE_EVENT_DESC] = "EVENT_DESC",
	[FEATURE_CPU_TOPOLOGY] = "CPU_TOPOLOGY",
	[FEATURE_NUMA_TOPOLOGY] = "NUMA_TOPOLOGY",
	[FEATURE_BRANCH_STACK] = "BRANCH_STACK",
	[FEATURE_PMU_MAPPINGS] = "PMU_MAPPINGS",
	[FEATURE_GROUP_DESC] = "GROUP_DESC",
	[FEATURE_AUXTRACE] = "AUXTRACE",
	[FEATURE_STAT] = "STAT",
	[FEATURE_CACHE] = "CACHE",
	[FEATURE_SAMPLE_TIME] = "SAMPLE_TIME",
	[FEATURE_MEM_TOPOLOGY] = "MEM_TOPOLOGY",
	[FEATURE_CLOCKID] = "CLOCKID",
	[FEATURE_DIR_FORMAT] = "DIR_FORMAT",
	[FEATURE_BPF_PROG_INFO] = "BPF_PROG_INFO",
	[FEATURE_BPF_BTF] = "BPF_BTF",
	[FEATURE_COMPRESSED] = "COMPRESSED",
	[FEATURE_CPU_PMU_CAPS] = "CPU_PMU_CAPS",
	[FEATURE_CLOCK_DATA] = "CLOCK_DATA",
	[FEATURE_HYBRID_TOPOLOGY] = "HYBRID_TOPOLOGY",
	[FEATURE_PMU_CAPS] = "PMU_CAPS",
	[FEATURE_CPU_DOMAIN_INFO] = "CPU_DOMAIN_INFO",
};

const char *feature_name(unsigned feature)
{
	return feature < FEATURE_COUNT ? feature_names[feature] : NULL;
}

const char *header_string(const struct header *header, enum feature feature)
{
	struct span body = header->feature_data[feature];
	if (!body.data)
		return NULL;
	struct cursor c = cursor_of(body.data, body.len, header->swapped);
	uint32_t room = take_u32(&c);
	size_t len;
	const char *text = take_string(&c, room, &len);
	return text && len < room ? text : NULL;
}

void header_fini(struct header *header)
{
	evlist_fini(&header->evlist);
	vec_fini(&header->build_ids);
	arena_fini(&header->arena);
}
