#include "render/text/header.h"
#include "render/text/stats.h"

#include "unit.h"

static const char *printed(struct writer *out)
{
	writer_putc(out, '\0');
	out->len = 0;
	return out->buffer;
}

TEST("each node has its memory, and its CPUs as ranges")
{
	static const struct __attribute__((packed)) {
		uint32_t count;
		struct __attribute__((packed)) {
			uint32_t node;
			uint64_t total_kb, free_kb;
			uint32_t size;
			char cpus[8];
		} nodes[2];
	} numa = { 2, { { 0, 1000, 300, 8, "0-1,4" }, { 3, 2000, 0, 8, "2-3" } } };
	struct writer out;
	struct source source = { .header = { .data_offset = 232, .data_size = 8, .feature_offset = 240, .captured = 1 } };
	source.header.features[0] = 1u << FEATURE_NUMA_TOPOLOGY;
	source.header.feature_data[FEATURE_NUMA_TOPOLOGY] = (struct span){ (const uint8_t *)&numa, sizeof numa };
	writer_open(&out, -1, 0);
	header_print(&source, true, NULL, &out);
	EXPECT(strstr(printed(&out), "# node0 meminfo  : total = 1000 kB, free = 300 kB\n# node0 cpu list : 0-1,4\n"
		"# node3 meminfo  : total = 2000 kB, free = 0 kB\n# node3 cpu list : 2-3\n"));
	writer_fini(&out);
}

TEST("the block lists existing features, those that -I shows and missing ones")
{
	struct writer out;
	struct source source = { .header = { .data_offset = 232, .data_size = 8, .feature_offset = 240, .captured = 1 } };
	static const uint32_t cpus[] = { 4, 2 };
	source.header.features[0] = 1u << FEATURE_NRCPUS | 1u << FEATURE_NUMA_TOPOLOGY | 1u << FEATURE_BRANCH_STACK;
	source.header.feature_data[FEATURE_NRCPUS] = (struct span){ (const uint8_t *)cpus, sizeof cpus };
	writer_open(&out, -1, 0);
	header_print(&source, false, NULL, &out);
	const char *text = printed(&out);
	EXPECT(strstr(text, "# ========\n# captured on    : ") == text);
	EXPECT(strstr(text, "# header version : 1\n# data offset    : 232\n# data size      : 8\n# feat offset    : 240\n"
		"# nrcpus online : 2\n# nrcpus avail : 4\n# NUMA_TOPOLOGY info available, use -I to display\n"
		"# contains samples with branch stack\n# missing features: TRACING_DATA BUILD_ID HOSTNAME "));
	EXPECT(strstr(text, "CLOCK_DATA HYBRID_TOPOLOGY PMU_CAPS \n# ========\n#\n"));
	writer_fini(&out);
}

TEST("a command line stays one line and has its quotes escaped")
{
	struct writer out;
	struct source source = { .header.pipe = true };
	static const struct __attribute__((packed)) {
		uint32_t count, first_len;
		char first[4];
		uint32_t second_len;
		char second[6];
	} words = { 2, 4, { 'i', 't', '\'', 's' }, 6, "a\nb\x1b[" };
	source.header.feature_data[FEATURE_CMDLINE] = (struct span){ (const uint8_t *)&words, sizeof words };
	static const uint64_t body = FEATURE_CMDLINE;
	struct record record = { .type = RECORD_HEADER_FEATURE, .body = (const uint8_t *)&body, .body_len = sizeof body };
	writer_open(&out, -1, 0);
	header_print_feature(&source, &record, false, NULL, &out);
	EXPECT_STR(printed(&out), "# cmdline : it\\'s a?b\033[ \n");
	writer_fini(&out);
}

TEST("a damaged feature prints a line all the same")
{
	struct writer out;
	struct source source = { 0 };
	source.header.features[0] = 1u << FEATURE_HOSTNAME | 1u << FEATURE_EVENT_DESC | 1u << FEATURE_PMU_MAPPINGS;
	writer_open(&out, -1, 0);
	header_print(&source, true, NULL, &out);
	EXPECT(strstr(printed(&out), "# hostname : (null)\n# event desc: not available or unable to read\n"
		"# pmu mappings: not available\n"));
	writer_fini(&out);
}

TEST("counts are shares of the total, and empty ones are left out unless asked for")
{
	struct writer out;
	struct header header = { 0 };
	struct stats stats = { .total = 3, .by_type = { [RECORD_MMAP] = 1, [RECORD_SAMPLE] = 2 } };
	struct attr attr = { .type = ATTR_SOFTWARE };
	evlist_add(&header.evlist, &attr, NULL, 0, "one");
	evlist_add(&header.evlist, &attr, NULL, 0, "two");
	vec_push(&stats.events, (struct event_stats){ 0 });
	vec_push(&stats.events, (struct event_stats){ .samples = 2 });
	writer_open(&out, -1, 0);
	stats_print(&stats, &header, true, &out);
	EXPECT_STR(printed(&out), "\nAggregated stats:\n               TOTAL events:          3\n"
		"                MMAP events:          1  (33.3%)\n"
		"              SAMPLE events:          2  (66.7%)\ntwo stats:\n              SAMPLE events:          2\n");
	stats_print(&stats, &header, false, &out);
	EXPECT(strstr(printed(&out), "LOST events:          0  ( 0.0%)\n"));
	writer_fini(&out);
	stats_fini(&stats);
	header_fini(&header);
}

/* What a feature with this data prints. */
static const char *printed_alone(unsigned feature, const void *data, size_t len, struct writer *out)
{
	struct source source = { .header = { .data_offset = 232, .data_size = 8, .feature_offset = 240, .captured = 1 } };
	source.header.features[0] = 1ull << feature;
	source.header.feature_data[feature] = (struct span){ data, len };
	header_print(&source, true, NULL, out);
	char *text = (char *)(uintptr_t)printed(out), *begin = strstr(text, "# feat offset    : 240\n"), *end = strstr(text, "# missing features");
	if (!begin || !end)
		return "not found";
	*end = '\0';
	return begin + strlen("# feat offset    : 240\n");
}

TEST("a feature without data has one line, or none")
{
	static const char *const texts[FEATURE_COUNT] = {
		[FEATURE_HOSTNAME] = "# hostname : (null)\n", [FEATURE_OSRELEASE] = "# os release : (null)\n",
		[FEATURE_VERSION] = "# perf version : (null)\n", [FEATURE_ARCH] = "# arch : (null)\n",
		[FEATURE_NRCPUS] = "# nrcpus online : 0\n# nrcpus avail : 0\n", [FEATURE_CPUDESC] = "# cpudesc : (null)\n",
		[FEATURE_CPUID] = "# cpuid : (null)\n", [FEATURE_TOTAL_MEM] = "# total memory : 0 kB\n", [FEATURE_CMDLINE] = "# cmdline : \n",
		[FEATURE_EVENT_DESC] = "# event desc: not available or unable to read\n",
		[FEATURE_CPU_TOPOLOGY] = "# Core ID and Socket ID information is not available\n",
		[FEATURE_BRANCH_STACK] = "# contains samples with branch stack\n", [FEATURE_PMU_MAPPINGS] = "# pmu mappings: not available\n",
		[FEATURE_AUXTRACE] = "# contains AUX area data (e.g. instruction trace)\n", [FEATURE_STAT] = "# contains stat data\n",
		[FEATURE_CACHE] = "# CPU cache info:\n", [FEATURE_SAMPLE_TIME] = "# time of first sample : 0.000000\n"
			"# time of last sample : 0.000000\n# sample duration :      0.000 ms\n",
		[FEATURE_MEM_TOPOLOGY] = "# memory nodes (nr 0, block size 0x0):\n", [FEATURE_CLOCKID] = "# clockid frequency: 0 MHz\n",
		[FEATURE_DIR_FORMAT] = "# directory data version : 0\n", [FEATURE_COMPRESSED] = "# compressed : Unknown, level = 0, ratio = 0\n",
		[FEATURE_CPU_PMU_CAPS] = "# cpu pmu capabilities: not available\n", [FEATURE_CLOCK_DATA] = "# reference time disabled\n",
		[FEATURE_HYBRID_TOPOLOGY] = "# hybrid cpu system:\n",
	};
	struct writer out;
	writer_open(&out, -1, 0);
	for (unsigned i = 1; i < FEATURE_COUNT; i++)
		EXPECT_STR(printed_alone(i, "", 0, &out), texts[i] ? texts[i] : "");
	writer_fini(&out);
}
