#include "data/feature.h"

#include "base/str.h"

#include <stdio.h>

/* Reads the count at the start of a list; rejects more items than fit the remaining bytes (min_size each). */
static bool take_count(struct cursor *c, size_t min_size, uint32_t *count)
{
	uint32_t n = take_u32(c);
	if (c->short_read || n > cursor_left(c) / min_size)
		return false;
	*count = n;
	return true;
}

/* Reads a length, and that many bytes, which a NUL may end earlier. NULL if they do not fit. */
static const char *take_text(struct cursor *c, struct arena *arena)
{
	size_t len;
	uint32_t size = take_u32(c);
	const char *text = take_string(c, size, &len);
	if (c->short_read)
		return NULL;
	return text_one_line(arena, text, len);
}

static bool take_texts(struct cursor *c, struct arena *arena, struct feature_strings *out)
{
	uint32_t count;
	if (!take_count(c, 4, &count))
		return false;
	const char **items = arena_alloc(arena, (size_t)count * sizeof *items);
	for (uint32_t i = 0; i < count; i++) {
		items[i] = take_text(c, arena);
		if (!items[i])
			return false;
	}
	*out = (struct feature_strings){ count, items };
	return true;
}

static struct cursor feature_cursor(const struct header *header, enum feature feature)
{
	struct span body = header->feature_data[feature];
	struct cursor c = cursor_of(body.data, body.data ? body.len : 0, header->swapped);
	c.short_read = !body.data;
	return c;
}

int feature_cpus(const struct header *header, struct feature_cpus *out)
{
	struct cursor c = feature_cursor(header, FEATURE_NRCPUS);
	*out = (struct feature_cpus){ 0 };
	uint32_t available = take_u32(&c), online = take_u32(&c);
	if (c.short_read)
		return -1;
	*out = (struct feature_cpus){ available, online };
	return 0;
}

static int feature_u64(const struct header *header, enum feature feature, uint64_t *out)
{
	struct cursor c = feature_cursor(header, feature);
	*out = take_u64(&c);
	return c.short_read ? -1 : 0;
}

int feature_total_memory(const struct header *header, uint64_t *kb)
{
	return feature_u64(header, FEATURE_TOTAL_MEM, kb);
}

int feature_clock_resolution(const struct header *header, uint64_t *resolution_ns)
{
	return feature_u64(header, FEATURE_CLOCKID, resolution_ns);
}

int feature_dir_format(const struct header *header, uint64_t *version)
{
	return feature_u64(header, FEATURE_DIR_FORMAT, version);
}

int feature_cmdline(const struct header *header, struct arena *arena, struct feature_strings *out)
{
	struct cursor c = feature_cursor(header, FEATURE_CMDLINE);
	*out = (struct feature_strings){ 0 };
	return take_texts(&c, arena, out) ? 0 : -1;
}

static bool arch_has_any_socket_id(const struct header *header)
{
	const char *arch = header_string(header, FEATURE_ARCH);
	return arch && (!strncmp(arch, "s390", 4) || !strncmp(arch, "aarch64", 7));
}

/* The size of a list with the recorder's padding: each string fills a multiple of 64 bytes. perf compares this sum, not the read position,
 * to decide whether a later revision's fields follow. */
static size_t texts_padded_size(const struct feature_strings *texts)
{
	enum { PADDING = 64 };
	size_t size = 4;
	for (uint32_t i = 0; i < texts->count; i++)
		size += 4 + (strlen(texts->items[i]) + PADDING) / PADDING * PADDING;
	return size;
}

/* The second revision of CPU_TOPOLOGY: ids per CPU. Returns false if they are invalid. */
static bool topology_take_ids(struct cursor *c, const struct header *header, struct arena *arena, struct feature_cpu *ids,
	uint32_t count)
{
	bool any_socket = arch_has_any_socket_id(header);
	for (uint32_t i = 0; i < count; i++) {
		ids[i].core = take_u32(c);
		ids[i].socket = take_u32(c);
		if (!any_socket && ids[i].socket != UINT32_MAX && ids[i].socket > count)
			return false;
	}
	return !c->short_read;
}

/* The third revision: dies. Returns false if they are truncated. */
static bool topology_take_dies(struct cursor *c, struct arena *arena, struct feature_cpu *ids, uint32_t count,
	struct feature_strings *dies)
{
	if (!take_texts(c, arena, dies))
		return false;
	for (uint32_t i = 0; i < count; i++)
		ids[i].die = take_u32(c);
	return !c->short_read;
}

int feature_cpu_topology(const struct header *header, struct arena *arena, struct feature_cpu_topology *out)
{
	struct cursor c = feature_cursor(header, FEATURE_CPU_TOPOLOGY);
	struct feature_cpu_topology read = { 0 };
	struct feature_cpus cpus;
	*out = read;
	if (!take_texts(&c, arena, &read.sockets) || !take_texts(&c, arena, &read.threads))
		return -1;
	*out = read;
	size_t size = texts_padded_size(&read.sockets) + texts_padded_size(&read.threads);
	if (c.len <= size || feature_cpus(header, &cpus) < 0 || cpus.available > cursor_left(&c) / 8)
		return 0;
	struct feature_cpu *ids = arena_alloc(arena, (size_t)cpus.available * sizeof *ids);
	if (!topology_take_ids(&c, header, arena, ids, cpus.available))
		return 0;
	size += (size_t)cpus.available * 8;
	if (c.len > size && !topology_take_dies(&c, arena, ids, cpus.available, &out->dies))
		return 0;
	out->cpu_count = cpus.available;
	out->cpus = ids;
	return 0;
}

int feature_numa(const struct header *header, struct arena *arena, struct feature_numa *out)
{
	struct cursor c = feature_cursor(header, FEATURE_NUMA_TOPOLOGY);
	uint32_t count;
	*out = (struct feature_numa){ 0 };
	if (!take_count(&c, 24, &count))
		return -1;
	struct feature_numa_node *nodes = arena_alloc(arena, (size_t)count * sizeof *nodes);
	for (uint32_t i = 0; i < count; i++) {
		nodes[i].node = take_u32(&c);
		nodes[i].total_kb = take_u64(&c);
		nodes[i].free_kb = take_u64(&c);
		nodes[i].cpus = take_text(&c, arena);
	}
	if (c.short_read)
		return -1;
	*out = (struct feature_numa){ count, nodes };
	return 0;
}

int feature_pmus(const struct header *header, struct arena *arena, struct feature_pmus *out)
{
	struct cursor c = feature_cursor(header, FEATURE_PMU_MAPPINGS);
	uint32_t count;
	*out = (struct feature_pmus){ 0 };
	if (!take_count(&c, 8, &count))
		return -1;
	struct feature_pmu *pmus = arena_alloc(arena, (size_t)count * sizeof *pmus);
	for (uint32_t i = 0; i < count; i++) {
		pmus[i].type = take_u32(&c);
		pmus[i].name = take_text(&c, arena);
	}
	if (c.short_read)
		return -1;
	*out = (struct feature_pmus){ count, pmus };
	return 0;
}

int feature_caches(const struct header *header, struct arena *arena, struct feature_caches *out)
{
	struct cursor c = feature_cursor(header, FEATURE_CACHE);
	uint32_t count;
	*out = (struct feature_caches){ 0 };
	if (take_u32(&c) != 1 || !take_count(&c, 28, &count))
		return -1;
	struct feature_cache *caches = arena_alloc(arena, (size_t)count * sizeof *caches);
	for (uint32_t i = 0; i < count; i++) {
		struct feature_cache *cache = &caches[i];
		cache->level = take_u32(&c);
		cache->line_size = take_u32(&c);
		cache->sets = take_u32(&c);
		cache->ways = take_u32(&c);
		cache->type = take_text(&c, arena);
		cache->size = take_text(&c, arena);
		cache->map = take_text(&c, arena);
	}
	if (c.short_read)
		return -1;
	*out = (struct feature_caches){ count, caches };
	return 0;
}

int feature_sample_time(const struct header *header, struct feature_sample_time *out)
{
	struct cursor c = feature_cursor(header, FEATURE_SAMPLE_TIME);
	*out = (struct feature_sample_time){ 0 };
	uint64_t first = take_u64(&c), last = take_u64(&c);
	if (c.short_read)
		return -1;
	*out = (struct feature_sample_time){ first, last };
	return 0;
}

static bool memory_take_node(struct cursor *c, struct arena *arena, struct feature_memory_node *node)
{
	node->node = take_u64(c);
	uint64_t size = take_u64(c);
	/* The bitmap repeats its size. */
	node->blocks = take_u64(c);
	(void)size;
	uint64_t words = node->blocks / 64 + (node->blocks % 64 != 0);
	if (c->short_read || words > cursor_left(c) / 8)
		return false;
	uint64_t *set = arena_alloc(arena, (size_t)words * sizeof *set);
	for (uint64_t i = 0; i < words; i++)
		set[i] = take_u64(c);
	node->set = set;
	return true;
}

int feature_memory(const struct header *header, struct arena *arena, struct feature_memory *out)
{
	struct cursor c = feature_cursor(header, FEATURE_MEM_TOPOLOGY);
	*out = (struct feature_memory){ 0 };
	if (take_u64(&c) != 1)
		return -1;
	uint64_t block_bytes = take_u64(&c), count = take_u64(&c);
	if (c.short_read || count > cursor_left(&c) / 24)
		return -1;
	struct feature_memory_node *nodes = arena_alloc(arena, (size_t)count * sizeof *nodes);
	for (uint64_t i = 0; i < count; i++)
		if (!memory_take_node(&c, arena, &nodes[i]))
			return -1;
	*out = (struct feature_memory){ block_bytes, (uint32_t)count, nodes };
	return 0;
}

int feature_clock(const struct header *header, struct feature_clock *out)
{
	struct cursor c = feature_cursor(header, FEATURE_CLOCK_DATA);
	*out = (struct feature_clock){ 0 };
	uint32_t version = take_u32(&c), clockid = take_u32(&c);
	uint64_t wall_ns = take_u64(&c), clock_ns = take_u64(&c);
	if (c.short_read || version != 1)
		return -1;
	*out = (struct feature_clock){ clockid, wall_ns, clock_ns };
	return 0;
}

int feature_compression(const struct header *header, struct feature_compression *out)
{
	struct cursor c = feature_cursor(header, FEATURE_COMPRESSED);
	*out = (struct feature_compression){ 0 };
	struct feature_compression read;
	read.version = take_u32(&c);
	read.type = take_u32(&c);
	read.level = take_u32(&c);
	read.ratio = take_u32(&c);
	read.mmap_bytes = take_u32(&c);
	if (c.short_read)
		return -1;
	*out = read;
	return 0;
}

static bool take_capabilities(struct cursor *c, struct arena *arena, struct feature_strings *pairs)
{
	uint32_t count;
	if (!take_count(c, 8, &count))
		return false;
	const char **items = arena_alloc(arena, (size_t)count * sizeof *items);
	for (uint32_t i = 0; i < count; i++) {
		const char *name = take_text(c, arena), *value = take_text(c, arena);
		if (!name || !value)
			return false;
		size_t size = strlen(name) + 1 + strlen(value) + 1;
		char *pair = arena_bytes(arena, size);
		snprintf(pair, size, "%s=%s", name, value);
		items[i] = pair;
	}
	*pairs = (struct feature_strings){ count, items };
	return true;
}

int feature_cpu_capabilities(const struct header *header, struct arena *arena, struct feature_capabilities *out)
{
	struct cursor c = feature_cursor(header, FEATURE_CPU_PMU_CAPS);
	*out = (struct feature_capabilities){ .pmu = "cpu" };
	return take_capabilities(&c, arena, &out->pairs) ? 0 : -1;
}

int feature_pmu_capabilities(const struct header *header, struct arena *arena, struct feature_pmu_capabilities *out)
{
	struct cursor c = feature_cursor(header, FEATURE_PMU_CAPS);
	uint32_t count;
	*out = (struct feature_pmu_capabilities){ 0 };
	if (!take_count(&c, 8, &count))
		return -1;
	struct feature_capabilities *pmus = arena_alloc(arena, (size_t)count * sizeof *pmus);
	for (uint32_t i = 0; i < count; i++) {
		if (!take_capabilities(&c, arena, &pmus[i].pairs))
			return -1;
		pmus[i].pmu = take_text(&c, arena);
	}
	if (c.short_read)
		return -1;
	*out = (struct feature_pmu_capabilities){ count, pmus };
	return 0;
}

/* Bodies: version, largest number of domains; for each CPU its number and its number of domains; for each of these its number, its name
 * from version 17 on, its CPUs as a mask and as a list. */
int feature_domains(const struct header *header, struct arena *arena, struct feature_domains *out)
{
	enum { DOMAIN_MIN = 12, NAMES_SINCE = 17 };
	struct cursor c = feature_cursor(header, FEATURE_CPU_DOMAIN_INFO);
	uint32_t version = take_u32(&c), count = 0, of_cpu;
	*out = (struct feature_domains){ 0 };
	take_u32(&c);
	if (c.short_read)
		return -1;
	struct feature_domain *domains = arena_alloc(arena, (cursor_left(&c) / DOMAIN_MIN + 1) * sizeof *domains);
	while (cursor_left(&c)) {
		uint32_t cpu = take_u32(&c);
		if (!take_count(&c, DOMAIN_MIN, &of_cpu))
			return -1;
		for (uint32_t i = 0; i < of_cpu; i++) {
			struct feature_domain *domain = &domains[count++];
			*domain = (struct feature_domain){ .cpu = cpu, .domain = take_u32(&c), .name = "" };
			domain->name = version >= NAMES_SINCE ? take_text(&c, arena) : "";
			domain->mask = take_text(&c, arena);
			domain->cpus = take_text(&c, arena);
			if (!domain->name || !domain->mask || !domain->cpus)
				return -1;
		}
	}
	*out = (struct feature_domains){ version, count, domains };
	return 0;
}

int feature_hybrid(const struct header *header, struct arena *arena, struct feature_hybrid *out)
{
	struct cursor c = feature_cursor(header, FEATURE_HYBRID_TOPOLOGY);
	uint32_t count;
	*out = (struct feature_hybrid){ 0 };
	if (!take_count(&c, 8, &count))
		return -1;
	struct feature_hybrid_node *nodes = arena_alloc(arena, (size_t)count * sizeof *nodes);
	for (uint32_t i = 0; i < count; i++) {
		nodes[i].pmu = take_text(&c, arena);
		nodes[i].cpus = take_text(&c, arena);
	}
	if (c.short_read)
		return -1;
	*out = (struct feature_hybrid){ count, nodes };
	return 0;
}

static bool take_event(struct cursor *c, uint32_t attr_size, struct arena *arena, struct feature_event *event)
{
	const uint8_t *bytes = take(c, attr_size);
	uint32_t id_count = take_u32(c);
	event->name = take_text(c, arena);
	if (!bytes || !event->name || attr_decode(&event->attr, bytes, attr_size, c->swap, NULL) < 0 ||
	    id_count > cursor_left(c) / 8)
		return false;
	uint64_t *ids = arena_alloc(arena, (size_t)id_count * sizeof *ids);
	for (uint32_t i = 0; i < id_count; i++)
		ids[i] = take_u64(c);
	event->id_count = id_count;
	event->ids = ids;
	return true;
}

int feature_events(const struct header *header, struct arena *arena, struct feature_events *out)
{
	struct cursor c = feature_cursor(header, FEATURE_EVENT_DESC);
	*out = (struct feature_events){ 0 };
	uint32_t count = take_u32(&c), attr_size = take_u32(&c);
	if (c.short_read || attr_size < ATTR_SIZE_VER0 || count > cursor_left(&c) / attr_size)
		return -1;
	struct feature_event *events = arena_alloc(arena, (size_t)count * sizeof *events);
	for (uint32_t i = 0; i < count; i++)
		if (!take_event(&c, attr_size, arena, &events[i]))
			return -1;
	*out = (struct feature_events){ count, events };
	return 0;
}

static bool is_readable(const struct header *header, enum feature feature, struct arena *arena)
{
	union {
		struct feature_cpus cpus;
		struct feature_strings strings;
		struct feature_events events;
		struct feature_cpu_topology topology;
		struct feature_numa numa;
		struct feature_pmus pmus;
		struct feature_caches caches;
		struct feature_sample_time sample_time;
		struct feature_memory memory;
		struct feature_clock clock;
		struct feature_bpf bpf;
		struct feature_btf btf;
		struct feature_compression compression;
		struct feature_capabilities capabilities;
		struct feature_pmu_capabilities pmu_capabilities;
		struct feature_hybrid hybrid;
		struct feature_domains domains;
		uint64_t number;
	} out;
	switch (feature) {
	case FEATURE_HOSTNAME:
	case FEATURE_OSRELEASE:
	case FEATURE_VERSION:
	case FEATURE_ARCH:
	case FEATURE_CPUDESC:
	case FEATURE_CPUID:
		return header_string(header, feature) != NULL;
	case FEATURE_NRCPUS: return feature_cpus(header, &out.cpus) == 0;
	case FEATURE_TOTAL_MEM: return feature_total_memory(header, &out.number) == 0;
	case FEATURE_CMDLINE: return feature_cmdline(header, arena, &out.strings) == 0;
	case FEATURE_EVENT_DESC: return feature_events(header, arena, &out.events) == 0;
	case FEATURE_CPU_TOPOLOGY: return feature_cpu_topology(header, arena, &out.topology) == 0;
	case FEATURE_NUMA_TOPOLOGY: return feature_numa(header, arena, &out.numa) == 0;
	case FEATURE_PMU_MAPPINGS: return feature_pmus(header, arena, &out.pmus) == 0;
	case FEATURE_CACHE: return feature_caches(header, arena, &out.caches) == 0;
	case FEATURE_SAMPLE_TIME: return feature_sample_time(header, &out.sample_time) == 0;
	case FEATURE_MEM_TOPOLOGY: return feature_memory(header, arena, &out.memory) == 0;
	case FEATURE_CLOCKID: return feature_clock_resolution(header, &out.number) == 0;
	case FEATURE_CLOCK_DATA: return feature_clock(header, &out.clock) == 0;
	case FEATURE_DIR_FORMAT: return feature_dir_format(header, &out.number) == 0;
	case FEATURE_BPF_PROG_INFO: return feature_bpf(header, arena, &out.bpf) == 0;
	case FEATURE_BPF_BTF: return feature_btf(header, arena, &out.btf) == 0;
	case FEATURE_COMPRESSED: return feature_compression(header, &out.compression) == 0;
	case FEATURE_CPU_PMU_CAPS: return feature_cpu_capabilities(header, arena, &out.capabilities) == 0;
	case FEATURE_PMU_CAPS: return feature_pmu_capabilities(header, arena, &out.pmu_capabilities) == 0;
	case FEATURE_CPU_DOMAIN_INFO: return feature_domains(header, arena, &out.domains) == 0;
	case FEATURE_HYBRID_TOPOLOGY: return feature_hybrid(header, arena, &out.hybrid) == 0;
	default: return true; /* without a body, or decoded elsewhere */
	}
}

uint64_t features_damaged(const struct header *header)
{
	uint64_t damaged = 0;
	struct arena arena = { 0 };
	for (unsigned i = 0; i < FEATURE_COUNT && !header->interrupted; i++)
		if (header_has(header, i) && (!header->feature_data[i].data || !is_readable(header, i, &arena)))
			damaged |= (uint64_t)1 << i;
	arena_fini(&arena);
	return damaged;
}
