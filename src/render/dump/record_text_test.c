#include "render/dump/record_text.h"

#include "unit.h"

/* The text of a record whose body is these bytes; valid until the next call. */
static const char *text_of(uint32_t type, uint16_t misc, const void *body, size_t len)
{
	static char text[1024];
	struct writer out;
	struct record record = { .type = type, .misc = misc, .body = body, .body_len = (uint32_t)len };
	writer_open(&out, -1, 0);
	bool known = record_text(&record, 7, &out);
	snprintf(text, sizeof text, "%s%.*s", known ? "" : "?", (int)out.len, out.buffer);
	writer_fini(&out);
	return text;
}

struct mmap2_body {
	uint32_t pid, tid;
	uint64_t start, len, pgoff;
	union {
		struct {
			uint32_t maj, min;
			uint64_t ino, generation;
		};
		struct {
			uint8_t id_len, reserved[3], id[20];
		};
	};
	uint32_t prot, flags;
	char name[8];
};

TEST("a mapping shows its range, its file or build-id, and its protection")
{
	struct mmap2_body body = { 1, 2, 0x1000, 0x2000, 0, .maj = 8, .min = 1, .ino = 5, .generation = 6, .prot = 5, .flags = 2,
		.name = "/bin/a" };
	EXPECT_STR(text_of(RECORD_MMAP2, 0, &body, sizeof body), " 1/2: [0x1000(0x2000) @ 0 08:01 5 6]: r-xp /bin/a\n");
	body.id_len = 3;
	memcpy(body.id, "\1\2\3", 3);
	body.flags = 1;
	EXPECT_STR(text_of(RECORD_MMAP2, RECORD_MISC_MMAP_BUILD_ID, &body, sizeof body),
		" 1/2: [0x1000(0x2000) @ 0 <010203>]: r-xs /bin/a\n");
}

TEST("a name does not need its NUL, and stays in its line")
{
	const struct {
		uint32_t pid, tid;
		char name[4];
	} body = { 1, 2, { 'a', 27, '\n', 'b' } };
	EXPECT_STR(text_of(RECORD_COMM, RECORD_MISC_COMM_EXEC, &body, sizeof body), " exec: a\033?b:1/2\n");
	EXPECT_STR(text_of(RECORD_COMM, 0, &body, 4), ": :1/0\n");
}

TEST("an update of an event shows its id, and what it changes")
{
	const struct {
		uint64_t type, id;
		union {
			char text[8];
			double scale;
		};
	} unit = { 0, 7, .text = "ms" }, scale = { 1, 8, .scale = 0.5 }, name = { 2, 9, .text = "x\ny" }, other = { 4, 10, .text = "" };
	EXPECT_STR(text_of(RECORD_EVENT_UPDATE, 0, &unit, sizeof unit), "\n... id:    7\n... unit:  ms\n");
	EXPECT_STR(text_of(RECORD_EVENT_UPDATE, 0, &scale, sizeof scale), "\n... id:    8\n... scale: 0.500000\n");
	EXPECT_STR(text_of(RECORD_EVENT_UPDATE, 0, &name, sizeof name), "\n... id:    9\n... name:  x?y\n");
	EXPECT_STR(text_of(RECORD_EVENT_UPDATE, 0, &other, sizeof other), "\n... id:    10\n... unknown type\n");
}

TEST("switches show the next task and whether they were preempted")
{
	uint32_t body[] = { 3, 4 };
	EXPECT_STR(text_of(RECORD_SWITCH, 0, NULL, 0), " IN         \n");
	EXPECT_STR(text_of(RECORD_SWITCH_CPU_WIDE, RECORD_MISC_SWITCH_OUT | RECORD_MISC_SWITCH_OUT_PREEMPT, body, sizeof body),
		" OUT preempt  next pid/tid:     3/4    \n");
}

TEST("a format prints the fields in order, by their widths and signs; a short body has zeros")
{
	const struct __attribute__((packed)) {
		uint64_t address;
		uint32_t len;
		uint16_t type, flags;
		char name[8];
	} symbol = { 0xffff, 64, 1, 0x8000, "bpf_x" };
	const struct __attribute__((packed)) {
		uint64_t size, offset, reference;
		uint32_t idx, tid, cpu, reserved;
	} trace = { 4096, 0, 1ull << 63, UINT32_MAX, UINT32_MAX, 3, 0 };
	EXPECT_STR(text_of(RECORD_KSYMBOL, 0, &symbol, sizeof symbol), " addr ffff len 64 type 1 flags 0x8000 name bpf_x\n");
	EXPECT_STR(text_of(RECORD_KSYMBOL, 0, &symbol, 14), " addr ffff len 64 type 1 flags 0x0 name \n");
	EXPECT_STR(text_of(RECORD_AUXTRACE, 0, &trace, sizeof trace),
		" size: 0x1000  offset: 0  ref: 0x8000000000000000  idx: 4294967295  tid: -1  cpu: 3\n");
	EXPECT_STR(text_of(RECORD_LOST, 0, &trace, 16), ": id:4096: lost:0\n");
}

TEST("lists of CPUs are ranges in all three forms")
{
	uint16_t listed[] = { 0, 4, 0xffff, 0, 1, 5 };
	const struct __attribute__((packed)) {
		uint16_t type, words, word_bytes, padding[2];
		uint64_t bits;
	} mask64 = { 1, 1, 8, { 0 }, 1ull << 63 | 0xf };
	uint16_t range[] = { 2, 0, 3, 9 }, unknown = 9;
	EXPECT_STR(text_of(RECORD_CPU_MAP, 0, listed, sizeof listed), ": -1-1,5\n");
	EXPECT_STR(text_of(RECORD_CPU_MAP, 0, &mask64, sizeof mask64), ": 0-3,63\n");
	EXPECT_STR(text_of(RECORD_CPU_MAP, 0, range, sizeof range), ": 3-9\n");
	EXPECT_STR(text_of(RECORD_CPU_MAP, 0, &unknown, sizeof unknown), ": failed to get cpumap from event\n");
}

TEST("a list that claims more than the record holds ends with the record")
{
	uint64_t threads[] = { 1000, 5, 0, 0, 6, 0, 0 }, namespaces[] = { 0, 1000, 3, 4 }, ids[] = { 1000, 1, 2, 3, 4 };
	EXPECT_STR(text_of(RECORD_THREAD_MAP, 0, threads, sizeof threads), " nr: 2 threads: 5, 6\n");
	EXPECT_STR(text_of(RECORD_NAMESPACES, 0, namespaces, sizeof namespaces), " 0/0 - nr_namespaces: 1\n\t\t[0/net: 3/0x4]\n");
	EXPECT_STR(text_of(RECORD_ID_INDEX, 0, ids, sizeof ids), "Too big: nr 1000 max_nr 1\n");
}

TEST("records without text return false")
{
	EXPECT_STR(text_of(RECORD_FINISHED_ROUND, 0, NULL, 0), "?");
	EXPECT_STR(text_of(4711, 0, NULL, 0), "?");
}
