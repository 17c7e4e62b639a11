#include "abi/sample.h"

#include <stdlib.h>

#include "unit.h"

/* The same body in native byte order and in the other byte order. */
struct twin {
	uint8_t native[2048], foreign[2048];
	size_t len;
};

static void twin_put(struct twin *t, uint64_t value, size_t width)
{
	uint8_t bytes[8];
	memcpy(bytes, &value, sizeof bytes);
	const uint8_t *first = bytes + (HOST_IS_BIG_ENDIAN ? 8 - width : 0);
	for (size_t i = 0; i < width; i++) {
		t->native[t->len + i] = first[i];
		t->foreign[t->len + i] = first[width - 1 - i];
	}
	t->len += width;
}

static void twin_put_fields(struct twin *t, const char *widths)
{
	for (uint64_t value = 0x1102030405060708; *widths; widths++, value += 0x0101010101010101)
		twin_put(t, value, (size_t)(*widths - '0'));
}

static void twin_put_bytes(struct twin *t, const void *bytes, size_t n)
{
	memcpy(t->native + t->len, bytes, n);
	memcpy(t->foreign + t->len, bytes, n);
	t->len += n;
}

static void expect_swaps(struct twin *t, uint32_t type, uint16_t misc, const struct sample_layout *layout)
{
	uint8_t work[2048];
	memcpy(work, t->foreign, t->len);
	EXPECT_INT(record_swap(type, misc, work, t->len, layout), 0);
	if (memcmp(work, t->native, t->len) != 0)
		unit_fail(__FILE__, __LINE__, "%s does not swap", record_type_name(type));
	/* a body cut anywhere must not be read beyond its end, which the sanitizer detects, nor changed there */
	for (size_t len = 0; len < t->len; len++) {
		memcpy(work, t->foreign, t->len);
		record_swap(type, misc, work, len, layout);
		EXPECT(memcmp(work + len, t->foreign + len, t->len - len) == 0);
		uint8_t *exact = malloc(len + !len);
		memcpy(exact, t->foreign, len);
		record_swap(type, misc, exact, len, layout);
		free(exact);
	}
}

static struct sample_layout trailer_layout(void)
{
	struct attr attr = {
		.sample_type = SAMPLE_TID | SAMPLE_TIME | SAMPLE_ID | SAMPLE_STREAM_ID | SAMPLE_CPU | SAMPLE_IDENTIFIER,
		.flags = 1ull << ATTR_SAMPLE_ID_ALL,
	};
	struct sample_layout layout;
	sample_layout_init(&layout, &attr);
	return layout;
}

TEST("records of the kernel are swapped with their trailer")
{
	static const struct {
		uint32_t type;
		uint16_t misc;
		const char *fields, *text;
	} rows[] = {
		{ RECORD_MMAP, 0, "44888", "/bin/true\0\0\0\0\0\0\0" },
		{ RECORD_LOST, 0, "88", NULL },
		{ RECORD_COMM, 0, "44", "true\0\0\0\0\0\0\0\0\0\0\0\0" },
		{ RECORD_EXIT, 0, "44448", NULL },
		{ RECORD_THROTTLE, 0, "888", NULL },
		{ RECORD_FORK, 0, "44448", NULL },
		{ RECORD_READ, 0, "44888", NULL },
		{ RECORD_MMAP2, 0, "44888448844", "/bin/true\0\0\0\0\0\0\0" },
		{ RECORD_AUX, 0, "888", NULL },
		{ RECORD_ITRACE_START, 0, "44", NULL },
		{ RECORD_LOST_SAMPLES, 0, "8", NULL },
		{ RECORD_SWITCH, 0, "", NULL },
		{ RECORD_SWITCH_CPU_WIDE, 0, "44", NULL },
		{ RECORD_NAMESPACES, 0, "44888888888888888", NULL },
		{ RECORD_KSYMBOL, 0, "8422", "bpf_prog_1\0\0\0\0\0\0" },
		{ RECORD_BPF_EVENT, 0, "224", "tagtagta\0\0\0\0\0\0\0\0" },
		{ RECORD_CGROUP, 0, "8", "/system.slice\0\0\0" },
		{ RECORD_AUX_OUTPUT_HW_ID, 0, "8", NULL },
		{ RECORD_CALLCHAIN_DEFERRED, 0, "8888", NULL },
	};
	struct sample_layout layout = trailer_layout();
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct twin t = { .len = 0 };
		twin_put_fields(&t, rows[i].fields);
		if (rows[i].text)
			twin_put_bytes(&t, rows[i].text, 16);
		twin_put_fields(&t, "44888448");
		expect_swaps(&t, rows[i].type, rows[i].misc, &layout);
	}
}

TEST("an MMAP2 with a build-id is swapped without device and inode")
{
	struct sample_layout layout = trailer_layout();
	struct twin t = { .len = 0 };
	twin_put_fields(&t, "44888");
	twin_put_bytes(&t, "\x14\0\0\0" "ABCDEFGHIJKLMNOPQRST", 24);
	twin_put_fields(&t, "44");
	twin_put_bytes(&t, "/bin/true\0\0\0\0\0\0\0", 16);
	twin_put_fields(&t, "44888448");
	expect_swaps(&t, RECORD_MMAP2, RECORD_MISC_MMAP_BUILD_ID, &layout);
}

TEST("the code bytes of TEXT_POKE are not swapped")
{
	struct sample_layout layout = trailer_layout();
	struct twin t = { .len = 0 };
	twin_put(&t, 0xffffffff81000000, 8);
	twin_put(&t, 3, 2);
	twin_put(&t, 1, 2);
	twin_put_bytes(&t, "\x0f\x1f\x44\x90", 4);
	twin_put_fields(&t, "44888448");
	expect_swaps(&t, RECORD_TEXT_POKE, 0, &layout);
}

TEST("records of perf are swapped without a trailer")
{
	static const struct {
		uint32_t type;
		const char *fields, *text;
	} rows[] = {
		{ RECORD_HEADER_EVENT_TYPE, "8", "cycles\0\0\0\0\0\0\0\0\0\0" },
		{ RECORD_HEADER_TRACING_DATA, "4", NULL },
		{ RECORD_HEADER_BUILD_ID, "4", "ABCDEFGHIJKLMNOP" },
		{ RECORD_FINISHED_ROUND, "", NULL },
		{ RECORD_ID_INDEX, "888888888", NULL },
		{ RECORD_AUXTRACE_INFO, "4488888", NULL },
		{ RECORD_AUXTRACE, "8884444", NULL },
		{ RECORD_STAT_CONFIG, "888", NULL },
		{ RECORD_STAT, "844888", NULL },
		{ RECORD_STAT_ROUND, "88", NULL },
		{ RECORD_TIME_CONV, "88888", "\1\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0" },
		{ RECORD_TIME_CONV, "888", NULL },
		{ RECORD_HEADER_FEATURE, "8", "in the file order" },
		{ RECORD_COMPRESSED2, "8", "zstdzstdzstdzstd" },
		{ RECORD_SCHEDSTAT_CPU, "8422444444888", NULL },
		{ RECORD_SCHEDSTAT_DOMAIN, "8422444444444444444444444444444444444444", NULL }, /* of version 15 */
		{ RECORD_SCHEDSTAT_DOMAIN, "8422444444444444444444444444444444444444444444444", NULL }, /* … and 17 */
		{ RECORD_COMPRESSED, "", "zstdzstdzstdzstd" },
		{ RECORD_FINISHED_INIT, "", NULL },
	};
	struct sample_layout layout = trailer_layout();
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct twin t = { .len = 0 };
		twin_put_fields(&t, rows[i].fields);
		if (rows[i].text)
			twin_put_bytes(&t, rows[i].text, 16);
		expect_swaps(&t, rows[i].type, 0, &layout);
	}
}

TEST("AUXTRACE_ERROR is swapped with and without its guest fields")
{
	char text[64] = "overflow";
	for (int guest = 0; guest < 2; guest++) {
		struct twin t = { .len = 0 };
		twin_put_fields(&t, "44444488");
		twin_put_bytes(&t, text, sizeof text);
		if (guest)
			twin_put_fields(&t, "44");
		expect_swaps(&t, RECORD_AUXTRACE_ERROR, 0, NULL);
	}
}

TEST("CPU_MAP is swapped in each of its three forms")
{
	struct twin list = { .len = 0 }, mask4 = { .len = 0 }, mask8 = { .len = 0 }, range = { .len = 0 };
	twin_put(&list, 0, 2);
	twin_put(&list, 3, 2);
	twin_put_fields(&list, "222");
	expect_swaps(&list, RECORD_CPU_MAP, 0, NULL);
	twin_put(&mask4, 1, 2);
	twin_put(&mask4, 2, 2);
	twin_put(&mask4, 4, 2);
	twin_put_fields(&mask4, "44");
	expect_swaps(&mask4, RECORD_CPU_MAP, 0, NULL);
	twin_put(&mask8, 1, 2);
	twin_put(&mask8, 2, 2);
	twin_put(&mask8, 8, 2);
	twin_put(&mask8, 0, 4);
	twin_put_fields(&mask8, "88");
	expect_swaps(&mask8, RECORD_CPU_MAP, 0, NULL);
	twin_put(&range, 2, 2);
	twin_put_bytes(&range, "\1\0", 2);
	twin_put_fields(&range, "22");
	expect_swaps(&range, RECORD_CPU_MAP, 0, NULL);
}

TEST("EVENT_UPDATE is swapped by its kind")
{
	struct twin name = { .len = 0 }, scale = { .len = 0 }, cpus = { .len = 0 };
	twin_put(&name, 2, 8);
	twin_put(&name, 77, 8);
	twin_put_bytes(&name, "cycles:u", 8);
	expect_swaps(&name, RECORD_EVENT_UPDATE, 0, NULL);
	twin_put(&scale, 1, 8);
	twin_put_fields(&scale, "88");
	expect_swaps(&scale, RECORD_EVENT_UPDATE, 0, NULL);
	twin_put(&cpus, 3, 8);
	twin_put(&cpus, 77, 8);
	twin_put(&cpus, 0, 2);
	twin_put(&cpus, 2, 2);
	twin_put_fields(&cpus, "22");
	expect_swaps(&cpus, RECORD_EVENT_UPDATE, 0, NULL);
}

TEST("THREAD_MAP has its ids swapped and its names unchanged")
{
	struct twin t = { .len = 0 };
	twin_put(&t, 2, 8);
	twin_put(&t, 100, 8);
	twin_put_bytes(&t, "sh\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	twin_put(&t, 101, 8);
	twin_put_bytes(&t, "true\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	expect_swaps(&t, RECORD_THREAD_MAP, 0, NULL);
}

TEST("HEADER_ATTR has its ids swapped and its flags mirrored")
{
	struct twin t = { .len = 0 };
	twin_put(&t, ATTR_HARDWARE, 4);
	twin_put(&t, ATTR_SIZE_VER8, 4);
	twin_put_fields(&t, "8888");
	uint64_t little = 1ull << ATTR_FREQ | 2ull << ATTR_PRECISE_IP, big = 1ull << (63 - ATTR_FREQ) | 2ull << 47;
	twin_put(&t, HOST_IS_BIG_ENDIAN ? little : big, 8);
	memcpy(t.native + t.len - 8, HOST_IS_BIG_ENDIAN ? &big : &little, 8);
	twin_put_fields(&t, "448888448422448" "8");
	twin_put_fields(&t, "888"); /* ids */
	EXPECT_INT(t.len, ATTR_SIZE_VER8 + 24);
	expect_swaps(&t, RECORD_HEADER_ATTR, 0, NULL);
}

TEST("a sample is swapped field by field, except its raw bytes")
{
	struct attr attr = {
		.sample_type = SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_CPU | SAMPLE_PERIOD | SAMPLE_READ |
			       SAMPLE_CALLCHAIN | SAMPLE_RAW | SAMPLE_BRANCH_STACK | SAMPLE_REGS_USER | SAMPLE_STACK_USER |
			       SAMPLE_WEIGHT_STRUCT | SAMPLE_REGS_INTR | SAMPLE_CGROUP | SAMPLE_AUX,
		.read_format = READ_GROUP | READ_ID | READ_TOTAL_TIME_ENABLED,
		.branch_sample_type = BRANCH_HW_INDEX | BRANCH_COUNTERS,
		.sample_regs_user = 7, .sample_regs_intr = 3,
	};
	struct sample_layout layout;
	struct twin t = { .len = 0 };
	sample_layout_init(&layout, &attr);
	twin_put_fields(&t, "884484" "48");
	twin_put(&t, 2, 8); /* read */
	twin_put_fields(&t, "88888");
	twin_put(&t, 2, 8); /* callchain */
	twin_put_fields(&t, "88");
	twin_put(&t, 12, 4);
	twin_put_bytes(&t, "raw raw raw ", 12);
	twin_put(&t, 1, 8); /* branches */
	twin_put_fields(&t, "888");
	uint64_t little = 1 | 5ull << 4 | 3ull << 20, big = 1ull << 63 | 5ull << 44 | 3ull << 40;
	twin_put(&t, HOST_IS_BIG_ENDIAN ? little : big, 8);
	memcpy(t.native + t.len - 8, HOST_IS_BIG_ENDIAN ? &big : &little, 8);
	twin_put_fields(&t, "8");
	twin_put(&t, 1, 8); /* registers */
	twin_put_fields(&t, "888");
	twin_put(&t, 8, 8); /* stack */
	twin_put_bytes(&t, "stackstk", 8);
	twin_put(&t, 8, 8);
	twin_put_fields(&t, "8");
	twin_put(&t, 0, 8);
	twin_put_fields(&t, "8");
	twin_put(&t, 4, 8);
	twin_put_bytes(&t, "auxa", 4);
	expect_swaps(&t, RECORD_SAMPLE, 0, &layout);
}

TEST("each field of one or two words is swapped in its place")
{
	static const struct {
		uint64_t bit;
		const char *widths;
	} rows[] = {
#define WORD(NAME, ...) { SAMPLE_##NAME, "8" },
#define PAIR(NAME, ...) { SAMPLE_##NAME, "44" },
		SAMPLE_FIELDS(WORD, PAIR, SAMPLE_NO_ROW, WORD)
#undef WORD
#undef PAIR
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct attr attr = { .sample_type = rows[i].bit | SAMPLE_AUX };
		struct sample_layout layout;
		struct twin t = { .len = 0 };
		sample_layout_init(&layout, &attr);
		twin_put_fields(&t, rows[i].widths);
		twin_put(&t, 4, 8);
		twin_put_bytes(&t, "auxa", 4);
		expect_swaps(&t, RECORD_SAMPLE, 0, &layout);
	}
}

TEST("swapping a sample fails if a size exceeds its body")
{
	struct attr attr = { .sample_type = SAMPLE_CALLCHAIN };
	struct sample_layout layout;
	struct twin t = { .len = 0 };
	sample_layout_init(&layout, &attr);
	twin_put(&t, UINT64_MAX, 8);
	twin_put_fields(&t, "8");
	EXPECT(record_swap(RECORD_SAMPLE, 0, t.foreign, t.len, &layout) < 0);
}

TEST("swapping a sample fails if a field of variable length is cut")
{
	static const struct {
		uint64_t type, format, branches;
		size_t whole;
		uint64_t first;
	} cases[] = {
		{ SAMPLE_CALLCHAIN, 0, 0, 24, 2 }, { SAMPLE_READ, 0, 0, 8, 1 }, { SAMPLE_READ, READ_ID | READ_LOST, 0, 24, 1 },
		{ SAMPLE_READ, READ_GROUP, 0, 24, 2 }, { SAMPLE_READ, READ_GROUP | READ_ID, 0, 40, 2 },
		{ SAMPLE_READ, READ_GROUP | READ_ID | READ_LOST | READ_TOTAL_TIME_ENABLED | READ_TOTAL_TIME_RUNNING, 0, 72, 2 },
		{ SAMPLE_BRANCH_STACK, 0, 0, 32, 1 }, { SAMPLE_BRANCH_STACK, 0, BRANCH_HW_INDEX, 40, 1 },
		{ SAMPLE_BRANCH_STACK, 0, BRANCH_HW_INDEX | BRANCH_COUNTERS, 48, 1 }, { SAMPLE_REGS_USER, 0, 0, 32, 1 },
		{ SAMPLE_REGS_INTR, 0, 0, 24, 1 }, { SAMPLE_STACK_USER, 0, 0, 24, 8 }, { SAMPLE_AUX, 0, 0, 16, 8 },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct attr attr = { .sample_type = cases[i].type, .read_format = cases[i].format, .branch_sample_type = cases[i].branches,
			.sample_regs_user = 7, .sample_regs_intr = 3 };
		struct sample_layout layout;
		sample_layout_init(&layout, &attr);
		for (size_t len = 0; len <= cases[i].whole; len++) {
			struct twin t = { .len = 0 };
			twin_put(&t, cases[i].first, 8);
			while (t.len < cases[i].whole)
				twin_put(&t, 8, 8);
			if ((record_swap(RECORD_SAMPLE, 0, t.foreign, len, &layout) < 0) != (len < cases[i].whole))
				unit_fail(__FILE__, __LINE__, "case %zu with %zu bytes", i, len);
		}
	}
}

TEST("a record of an unknown type or event is not swapped")
{
	uint8_t body[16] = { 1, 2, 3 }, before[16];
	memcpy(before, body, sizeof body);
	EXPECT_INT(record_swap(60, 0, body, sizeof body, NULL), 0);
	EXPECT_INT(record_swap(RECORD_SAMPLE, 0, body, sizeof body, NULL), 0);
	EXPECT_INT(record_swap(UINT32_MAX, 0, body, sizeof body, NULL), 0);
	EXPECT(memcmp(before, body, sizeof body) == 0);
}
