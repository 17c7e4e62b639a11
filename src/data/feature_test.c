#include "data/feature.h"

#include "unit.h"

/* Builds the body of a feature in the format of a recorder on this machine. */
struct body {
	uint8_t bytes[4096];
	size_t len;
};

static void put(struct body *body, const void *data, size_t len)
{
	memcpy(body->bytes + body->len, data, len);
	body->len += len;
}

static bool opposite; /* numbers are written in the opposite byte order */

static uint32_t ordered_u32(uint32_t value) { return opposite ? __builtin_bswap32(value) : value; }
static uint64_t ordered_u64(uint64_t value) { return opposite ? __builtin_bswap64(value) : value; }
static void put_u32(struct body *body, uint32_t value) { put(body, &(uint32_t){ ordered_u32(value) }, sizeof value); }
static void put_u64(struct body *body, uint64_t value) { put(body, &(uint64_t){ ordered_u64(value) }, sizeof value); }

/* A string in perf's format: its length, and the text padded with NULs to a multiple of 64. */
static void put_text(struct body *body, const char *text)
{
	size_t size = (strlen(text) + 64) / 64 * 64;
	put_u32(body, (uint32_t)size);
	memset(body->bytes + body->len, 0, size);
	memcpy(body->bytes + body->len, text, strlen(text));
	body->len += size;
}

static void set(struct header *header, enum feature feature, const struct body *body)
{
	header->features[feature / 64] |= 1ull << (feature % 64);
	header->feature_data[feature] = (struct span){ body->bytes, body->len };
}

TEST("an absent or truncated feature returns -1 and an empty value")
{
	struct header header = { 0 };
	struct arena arena = { 0 };
	struct feature_cpus cpus;
	struct feature_strings words;
	EXPECT_INT(feature_cpus(&header, &cpus), -1);
	EXPECT_INT(feature_cmdline(&header, &arena, &words), -1);
	struct body body = { 0 };
	put_u32(&body, 4);
	set(&header, FEATURE_NRCPUS, &body);
	EXPECT_INT(feature_cpus(&header, &cpus), -1);
	EXPECT_INT(cpus.available, 0);
	struct body lying = { 0 };
	put_u32(&lying, 1000000);
	put_text(&lying, "perf");
	set(&header, FEATURE_CMDLINE, &lying);
	EXPECT_INT(feature_cmdline(&header, &arena, &words), -1);
	EXPECT_INT(words.count, 0);
	arena_fini(&arena);
}

TEST("a string that fills its room without a NUL is valid")
{
	struct header header = { 0 };
	struct arena arena = { 0 };
	struct feature_strings words;
	struct body body = { 0 };
	put_u32(&body, 2);
	put_u32(&body, 4);
	put(&body, "perf", 4);
	put_text(&body, "record");
	set(&header, FEATURE_CMDLINE, &body);
	EXPECT_INT(feature_cmdline(&header, &arena, &words), 0);
	EXPECT_STR(words.items[0], "perf");
	EXPECT_STR(words.items[1], "record");
	arena_fini(&arena);
}

static void put_topology(struct body *body, bool ids, bool dies)
{
	put_u32(body, 1);
	put_text(body, "0-1");
	put_u32(body, 2);
	put_text(body, "0");
	put_text(body, "1");
	for (uint32_t i = 0; ids && i < 2; i++) {
		put_u32(body, i + 10);
		put_u32(body, i);
	}
	if (!dies)
		return;
	put_u32(body, 1);
	put_text(body, "0-1");
	put_u32(body, 7);
	put_u32(body, 8);
}

TEST("the three revisions of the CPU topology")
{
	for (unsigned revision = 1; revision <= 3; revision++) {
		struct header header = { 0 };
		struct arena arena = { 0 };
		struct feature_cpu_topology topology;
		struct body cpus = { 0 }, body = { 0 };
		put_u32(&cpus, 2);
		put_u32(&cpus, 2);
		set(&header, FEATURE_NRCPUS, &cpus);
		put_topology(&body, revision > 1, revision > 2);
		set(&header, FEATURE_CPU_TOPOLOGY, &body);
		EXPECT_INT(feature_cpu_topology(&header, &arena, &topology), 0);
		EXPECT_INT(topology.threads.count, 2);
		EXPECT_INT(topology.cpus != NULL, revision > 1);
		EXPECT_INT(topology.dies.count, revision > 2);
		if (revision > 1)
			EXPECT_INT(topology.cpus[1].core, 11);
		if (revision > 2)
			EXPECT_INT(topology.cpus[1].die, 8);
		arena_fini(&arena);
	}
}

TEST("a socket id beyond the CPUs invalidates the ids, except on architectures with arbitrary socket numbers")
{
	struct header header = { 0 };
	struct arena arena = { 0 };
	struct feature_cpu_topology topology;
	struct body cpus = { 0 }, body = { 0 }, arch = { 0 };
	put_u32(&cpus, 1);
	put_u32(&cpus, 1);
	set(&header, FEATURE_NRCPUS, &cpus);
	put_u32(&body, 0);
	put_u32(&body, 0);
	put_u32(&body, 0);
	put_u32(&body, 99);
	set(&header, FEATURE_CPU_TOPOLOGY, &body);
	feature_cpu_topology(&header, &arena, &topology);
	EXPECT(topology.cpus == NULL);
	put_text(&arch, "aarch64");
	set(&header, FEATURE_ARCH, &arch);
	feature_cpu_topology(&header, &arena, &topology);
	EXPECT(topology.cpus != NULL && topology.cpus[0].socket == 99);
	arena_fini(&arena);
}

TEST("memory nodes have bitmaps, and a bitmap larger than the file is rejected")
{
	struct header header = { 0 };
	struct arena arena = { 0 };
	struct feature_memory memory;
	struct body body = { 0 };
	put_u64(&body, 1);
	put_u64(&body, 0x8000000);
	put_u64(&body, 1);
	put_u64(&body, 3);
	put_u64(&body, 65);
	put_u64(&body, 65);
	put_u64(&body, 5);
	put_u64(&body, 1);
	set(&header, FEATURE_MEM_TOPOLOGY, &body);
	EXPECT_INT(feature_memory(&header, &arena, &memory), 0);
	EXPECT_INT(memory.nodes[0].blocks, 65);
	EXPECT_INT(memory.nodes[0].set[1], 1);
	memset(body.bytes + 40, 0xff, 8);
	EXPECT_INT(feature_memory(&header, &arena, &memory), -1);
	EXPECT_INT(memory.count, 0);
	arena_fini(&arena);
}

static void set_u32(uint8_t *field, uint32_t value) { memcpy(field, &(uint32_t){ ordered_u32(value) }, sizeof value); }
static void set_u64(uint8_t *field, uint64_t value) { memcpy(field, &(uint64_t){ ordered_u64(value) }, sizeof value); }

/* Writes struct bpf_prog_info with the fields that naming needs, and its arrays. */
static void put_program(struct body *body, uint32_t id, uint32_t functions, uint32_t btf)
{
	enum { INFO = 192, LINES = 4 };
	static const uint64_t addresses[LINES] = { 0x1000, 0x1004, 0x1001, 0x100b }; /* two in each of two functions */
	uint8_t info[INFO] = { 0 };
	set_u32(info + 4, id);
	memcpy(info + 64, "prog", 4);
	set_u32(info + 104, functions);
	set_u32(info + 108, functions);
	set_u64(info + 112, 0);
	set_u64(info + 120, functions * 8);
	set_u32(info + 128, btf);
	set_u32(info + 132, 8);
	set_u64(info + 184, functions * 12);
	set_u32(info + 180, functions);
	set_u64(info + 136, functions * 20);
	set_u32(info + 144, functions);
	set_u32(info + 148, LINES);
	set_u64(info + 152, functions * 28);
	set_u64(info + 160, functions * 28 + LINES * 16);
	set_u32(info + 168, LINES);
	set_u32(info + 172, 16);
	set_u32(info + 176, 8);
	put_u32(body, INFO);
	put_u32(body, functions * 28 + LINES * 24);
	put_u64(body, 1u << 3 | 1u << 4 | 1u << 5 | 1u << 6 | 1u << 7 | 1u << 8);
	put(body, info, INFO);
	for (uint32_t i = 0; i < functions; i++)
		put_u64(body, 0x1000 + i);
	for (uint32_t i = 0; i < functions; i++)
		put_u32(body, 10 + i);
	for (uint32_t i = 0; i < functions; i++)
		put(body, "\xab\0\0\0\0\0\0", 8);
	for (uint32_t i = 0; i < functions; i++) {
		put_u32(body, 0);
		put_u32(body, i + 1);
	}
	for (uint32_t i = 0; i < LINES; i++) {
		put_u32(body, i);
		put_u32(body, 1);
		put_u32(body, i == 3 ? 1000 : 7);
		put_u32(body, (20 + i) << 10 | 5);
	}
	for (uint32_t i = 0; i < LINES; i++)
		put_u64(body, addresses[i]);
}

/* The number of the line at an address, if its file and text are as stored; 0: unknown. */
static uint32_t bpf_line(const struct feature_bpf_function *function, uint64_t address)
{
	const struct feature_bpf_line *line = feature_bpf_line(function, address);
	bool known = line && line->file.len == 5 && memcmp(line->file.data, "first", 5) == 0;
	return known && (!line->text.data || (line->text.len == 6 && memcmp(line->text.data, "second", 6) == 0)) ? line->number : 0;
}

/* Writes two functions, named in the string table. */
static void put_btf(struct body *body, uint32_t id)
{
	static const char strings[] = "\0first\0second";
	put_u32(body, 1);
	put_u32(body, id);
	put_u32(body, 24 + 24 + sizeof strings);
	put(body, &(uint16_t){ opposite ? 0x9feb : 0xeb9f }, 2);
	put(body, "\1\0", 2);
	put_u32(body, 24);
	put_u32(body, 0);
	put_u32(body, 24);
	put_u32(body, 24);
	put_u32(body, sizeof strings);
	for (uint32_t name = 1; name <= 7; name += 6) {
		put_u32(body, name);
		put_u32(body, 12u << 24);
		put_u32(body, 0);
	}
	put(body, strings, sizeof strings);
}

static void check_programs(struct header header)
{
	struct arena arena = { 0 };
	struct feature_bpf bpf;
	struct feature_btf btf;
	struct body programs = { 0 }, types = { 0 };
	put_u32(&programs, 3);
	put_program(&programs, 9, 2, 77);
	put_program(&programs, 3, 1, 0);
	put_program(&programs, 4, 2, 0);
	put_btf(&types, 77);
	set(&header, FEATURE_BPF_PROG_INFO, &programs);
	set(&header, FEATURE_BPF_BTF, &types);
	EXPECT_INT(feature_bpf(&header, &arena, &bpf), 0);
	EXPECT_INT(bpf.count, 3);
	EXPECT_INT(bpf.programs[0].id, 3);
	EXPECT_STR(bpf.programs[0].functions[0].name, "bpf_prog_ab00000000000000_prog");
	EXPECT_STR(bpf.programs[1].functions[1].name, "bpf_prog_ab00000000000000_F");
	EXPECT_STR(bpf.programs[2].functions[1].name, "bpf_prog_ab00000000000000_second");
	EXPECT_INT(bpf.programs[2].functions[1].address, 0x1001);
	EXPECT_INT(bpf.programs[2].functions[1].size, 11);
	EXPECT_INT(bpf.programs[0].functions[0].line_count, 0); /* without types there are no texts */
	EXPECT_INT(bpf_line(&bpf.programs[2].functions[0], 0xfff), 0);
	EXPECT_INT(bpf_line(&bpf.programs[2].functions[0], 0x1003), 20);
	EXPECT_INT(bpf_line(&bpf.programs[2].functions[0], 0x1009), 21);
	EXPECT_INT(bpf_line(&bpf.programs[2].functions[1], 0x1001), 22);
	EXPECT_INT(bpf_line(&bpf.programs[2].functions[1], 0x100b), 23);
	EXPECT(!bpf.programs[2].functions[1].lines[1].text.data);
	EXPECT_INT(feature_btf(&header, &arena, &btf), 0);
	EXPECT_INT(btf.ids[0], 77);
	header.swapped = !header.swapped;
	EXPECT_INT(feature_bpf(&header, &arena, &bpf), -1);
	arena_fini(&arena);
}

TEST("BPF programs are sorted by id, their functions and source lines named by BTF if present, in both byte orders")
{
	check_programs((struct header){ 0 });
	opposite = true;
	check_programs((struct header){ .swapped = true });
	opposite = false;
}

/* The fields of features of fixed size, and of the lists whose rows have several, are in the order of perf.data-file-format.txt. */
static void expect_fields(void)
{
	struct header header = { .swapped = opposite };
	struct arena arena = { 0 };
	struct feature_compression compression;
	struct feature_sample_time times;
	struct feature_clock clock;
	struct feature_caches caches;
	struct feature_numa numa;
	struct feature_pmus pmus;
	struct body compressed = { 0 }, timed = { 0 }, clocked = { 0 }, cached = { 0 }, nodes = { 0 }, mapped = { 0 };
	for (uint32_t i = 1; i <= 5; i++)
		put_u32(&compressed, i);
	put_u64(&timed, 11);
	put_u64(&timed, 12);
	put_u32(&clocked, 1);
	put_u32(&clocked, 4);
	put_u64(&clocked, 21);
	put_u64(&clocked, 22);
	put_u32(&cached, 1);
	put_u32(&cached, 1);
	for (uint32_t i = 33; i <= 36; i++)
		put_u32(&cached, i);
	put_text(&cached, "Data");
	put_text(&cached, "32K");
	put_text(&cached, "0-1");
	put_u32(&nodes, 1);
	put_u32(&nodes, 3);
	put_u64(&nodes, 41);
	put_u64(&nodes, 42);
	put_text(&nodes, "0-3");
	put_u32(&mapped, 1);
	put_u32(&mapped, 7);
	put_text(&mapped, "uprobe");
	set(&header, FEATURE_COMPRESSED, &compressed);
	set(&header, FEATURE_SAMPLE_TIME, &timed);
	set(&header, FEATURE_CLOCK_DATA, &clocked);
	set(&header, FEATURE_CACHE, &cached);
	set(&header, FEATURE_NUMA_TOPOLOGY, &nodes);
	set(&header, FEATURE_PMU_MAPPINGS, &mapped);
	EXPECT(feature_compression(&header, &compression) == 0 && compression.version == 1 && compression.type == 2 && compression.level == 3 &&
		compression.ratio == 4 && compression.mmap_bytes == 5);
	EXPECT(feature_sample_time(&header, &times) == 0 && times.first_ns == 11 && times.last_ns == 12);
	EXPECT(feature_clock(&header, &clock) == 0 && clock.clockid == 4 && clock.wall_ns == 21 && clock.clock_ns == 22);
	EXPECT(feature_caches(&header, &arena, &caches) == 0 && caches.count == 1);
	const struct feature_cache *cache = caches.caches;
	EXPECT(cache && cache->level == 33 && cache->line_size == 34 && cache->sets == 35 && cache->ways == 36 && !strcmp(cache->type, "Data") &&
		!strcmp(cache->size, "32K") && !strcmp(cache->map, "0-1"));
	EXPECT(feature_numa(&header, &arena, &numa) == 0 && numa.count == 1 && numa.nodes[0].node == 3 && numa.nodes[0].total_kb == 41 &&
		numa.nodes[0].free_kb == 42 && !strcmp(numa.nodes[0].cpus, "0-3"));
	EXPECT(feature_pmus(&header, &arena, &pmus) == 0 && pmus.count == 1 && pmus.pmus[0].type == 7 && !strcmp(pmus.pmus[0].name, "uprobe"));
	compressed.len--;
	set(&header, FEATURE_COMPRESSED, &compressed);
	EXPECT(feature_compression(&header, &compression) == -1 && compression.type == 0);
	arena_fini(&arena);
}

TEST("the fields of compression, times, clocks, caches, nodes and PMUs are decoded, in both byte orders")
{
	expect_fields();
	opposite = true;
	expect_fields();
	opposite = false;
}

TEST("features of the opposite byte order are decoded")
{
	struct header header = { .swapped = true };
	struct body body = { 0 };
	uint64_t kb;
	put_u64(&body, __builtin_bswap64(4096));
	set(&header, FEATURE_TOTAL_MEM, &body);
	EXPECT_INT(feature_total_memory(&header, &kb), 0);
	EXPECT_INT(kb, 4096);
}

TEST("damaged features are those that were announced and are absent or truncated, except those that a killed recorder did not write")
{
	struct header header = { 0 };
	struct body cpus = { 0 }, btf = { 0 }, name = { 0 };
	put_u32(&cpus, 4);
	put_u32(&btf, 0);
	put_text(&name, "host");
	set(&header, FEATURE_BPF_BTF, &btf);
	set(&header, FEATURE_HOSTNAME, &name);
	set(&header, FEATURE_BRANCH_STACK, &(struct body){ 0 });
	EXPECT_INT(features_damaged(&header), 0);
	set(&header, FEATURE_NRCPUS, &cpus);
	header.features[0] |= 1ull << FEATURE_CMDLINE;
	EXPECT_INT(features_damaged(&header), 1ull << FEATURE_NRCPUS | 1ull << FEATURE_CMDLINE);
	name.len -= 8;
	set(&header, FEATURE_HOSTNAME, &name);
	EXPECT_INT(features_damaged(&header), 1ull << FEATURE_NRCPUS | 1ull << FEATURE_CMDLINE | 1ull << FEATURE_HOSTNAME);
	header.interrupted = true;
	EXPECT_INT(features_damaged(&header), 0);
}

TEST("a truncated list of BPF types or programs returns -1, with the items before the end")
{
	struct header header = { 0 };
	struct arena arena = { 0 };
	struct body body = { 0 };
	struct feature_btf btf;
	put_u32(&body, 2);
	for (uint32_t id = 7; id < 9; id++) {
		put_u32(&body, id);
		put_u32(&body, 8);
		put_u64(&body, 0);
	}
	set(&header, FEATURE_BPF_BTF, &body);
	EXPECT_INT(feature_btf(&header, &arena, &btf), 0);
	EXPECT_INT(btf.count, 2);
	body.len -= 4;
	set(&header, FEATURE_BPF_BTF, &body);
	EXPECT_INT(feature_btf(&header, &arena, &btf), -1);
	EXPECT_INT(btf.count, 1);
	arena_fini(&arena);
}

static void put_domain(struct body *body, uint32_t number, const char *name)
{
	put_u32(body, number);
	if (name)
		put_text(body, name);
	put_text(body, "00000003");
	put_text(body, "0-1");
}

TEST("scheduler domains have a name from version 17 of schedstat on, and a list that ends early has none of them")
{
	for (uint32_t version = 16; version <= 17; version++) {
		struct header header = { 0 };
		struct arena arena = { 0 };
		struct body body = { 0 };
		struct feature_domains domains;
		put_u32(&body, version);
		put_u32(&body, 2);
		put_u32(&body, 5);
		put_u32(&body, 2);
		put_domain(&body, 0, version == 17 ? "SMT" : NULL);
		put_domain(&body, 1, version == 17 ? "MC" : NULL);
		set(&header, FEATURE_CPU_DOMAIN_INFO, &body);
		EXPECT_INT(feature_domains(&header, &arena, &domains), 0);
		EXPECT_INT(domains.version, version);
		EXPECT_INT(domains.count, 2);
		EXPECT_INT(domains.domains[1].cpu, 5);
		EXPECT_INT(domains.domains[1].domain, 1);
		EXPECT_STR(domains.domains[1].name, version == 17 ? "MC" : "");
		EXPECT_STR(domains.domains[1].cpus, "0-1");
		EXPECT_INT(features_damaged(&header), 0);
		body.len--;
		set(&header, FEATURE_CPU_DOMAIN_INFO, &body);
		EXPECT_INT(feature_domains(&header, &arena, &domains), -1);
		EXPECT_INT(domains.count, 0);
		arena_fini(&arena);
	}
}
