#include "rewrite/added_record.h"

#include <stdlib.h>

#include "record/acquire/record_out.h"
#include "unit.h"

static struct evsel evsel_of(uint64_t type, bool trailers)
{
	struct evsel evsel = { .attr = { .sample_type = type, .flags = (uint64_t)trailers << ATTR_SAMPLE_ID_ALL } };
	sample_layout_init(&evsel.layout, &evsel.attr);
	return evsel;
}

static struct record record_at(const struct writer *out, size_t at)
{
	const uint8_t *head = (const uint8_t *)out->buffer + at;
	uint16_t misc, size;
	memcpy(&misc, head + 4, 2);
	memcpy(&size, head + 6, 2);
	return (struct record){ .type = load_u32(head), .misc = misc, .body = head + 8, .body_len = size - 8u };
}

TEST("a build-id record has the trailer that records of its event have")
{
	static const uint64_t types[] = { 0, SAMPLE_TID, SAMPLE_TIME, SAMPLE_ID, SAMPLE_STREAM_ID, SAMPLE_CPU, SAMPLE_IDENTIFIER,
		SAMPLE_TID | SAMPLE_TIME | SAMPLE_ID | SAMPLE_STREAM_ID | SAMPLE_CPU | SAMPLE_IDENTIFIER };
	const struct sample in = { .pid = 1, .tid = 2, .time = 3, .id = 4, .stream_id = 5, .cpu = 6 };
	const uint8_t id[BUILD_ID_ROOM] = { 0xab };
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		struct evsel evsel = evsel_of(types[i], true);
		struct writer out;
		struct sample sample;
		writer_open(&out, -1, 0);
		EXPECT(added_build_id_write("/bin/abc", id, 20, RECORD_MISC_USER, &evsel, &in, &out));
		struct record record = record_at(&out, 0);
		EXPECT_INT(record.body_len + 8, out.len);
		EXPECT_INT(record.body_len, 28 + 12 + 8 * evsel.layout.trailer_count);
		EXPECT_STR((const char *)record.body + 28, "/bin/abc");
		record.type = RECORD_COMM; /* tool records have no trailer for the decoder */
		sample_decode_trailer(&sample, &evsel.layout, &record);
		EXPECT_INT((int32_t)sample.tid, types[i] & SAMPLE_TID ? 2 : -1);
		EXPECT_INT(sample.time, types[i] & SAMPLE_TIME ? 3 : -1);
		EXPECT_INT(sample.id, types[i] & (SAMPLE_ID | SAMPLE_IDENTIFIER) ? 4 : -1);
		EXPECT_INT(sample.stream_id, types[i] & SAMPLE_STREAM_ID ? 5 : -1);
		EXPECT_INT((int32_t)sample.cpu, types[i] & SAMPLE_CPU ? 6 : -1);
		writer_fini(&out);
	}
}

TEST("without sample_id_all, or without an event, records have no trailer")
{
	const struct sample in = { .pid = 1 };
	const uint8_t id[BUILD_ID_ROOM] = { 0 };
	struct evsel evsel = evsel_of(SAMPLE_TID | SAMPLE_TIME, false);
	struct writer out;
	writer_open(&out, -1, 0);
	EXPECT(added_build_id_write("/a", id, 20, RECORD_MISC_USER, &evsel, &in, &out));
	EXPECT_INT(out.len, 8 + 28 + 4);
	EXPECT(added_build_id_write("/a", id, 20, RECORD_MISC_USER, NULL, &in, &out));
	EXPECT_INT(out.len, 2 * (8 + 28 + 4));
	writer_fini(&out);
}

TEST("a mapping has the build-id or the numbers of its file, and the path below its folder")
{
	const uint8_t id[BUILD_ID_ROOM] = { 0xab, [19] = 0xcd };
	struct added_mapping m = { .pid = 1, .tid = 2, .start = 0x1000, .len = 0x2000, .pgoff = 0x3000, .prot = 5, .flags = 2,
		.cpumode = RECORD_MISC_USER, .maj = 8, .min = 9, .ino = 10, .ino_generation = 11, .folder = "/tmp", .path = "x.so" };
	struct writer out;
	writer_open(&out, -1, 0);
	EXPECT(added_mapping_write(&m, NULL, NULL, &out));
	struct record record = record_at(&out, 0);
	EXPECT_INT(record.misc, RECORD_MISC_USER);
	EXPECT_INT(load_u32(record.body + 36), 9);
	EXPECT_INT(load_u64(record.body + 48), 11);
	EXPECT_INT(load_u32(record.body + 60), 2);
	EXPECT_STR((const char *)record.body + 64, "/tmp/x.so");
	size_t at = out.len;
	m.build_id = id;
	m.build_id_len = 20;
	m.folder = NULL;
	EXPECT(added_mapping_write(&m, NULL, NULL, &out));
	record = record_at(&out, at);
	EXPECT_INT(record.misc, RECORD_MISC_USER | RECORD_MISC_MMAP_BUILD_ID);
	EXPECT_INT(record.body[32], 20);
	EXPECT_INT(record.body[36], 0xab);
	EXPECT_INT(record.body[55], 0xcd);
	EXPECT_INT(load_u32(record.body + 56), 5);
	EXPECT_STR((const char *)record.body + 64, "x.so");
	writer_fini(&out);
}

TEST("a record that its size field cannot describe is not written")
{
	enum { HEAD = 8 + 64, TRAILER = 16 };
	struct evsel evsel = evsel_of(SAMPLE_TID | SAMPLE_TIME, true);
	const struct sample in = { 0 };
	char *path = calloc(1, 1 << 17);
	for (size_t over = 0; over < 2; over++) {
		size_t len = RECORD_SIZE_MAX - HEAD - TRAILER - 1 + over;
		struct writer out;
		memset(path, 'a', len);
		writer_open(&out, -1, 0);
		writer_puts(&out, "12345678");
		const struct added_mapping m = { .path = path };
		EXPECT_INT(added_mapping_write(&m, &evsel, &in, &out), !over);
		EXPECT_INT(out.len, over ? 8 : 8 + RECORD_SIZE_MAX);
		if (!over)
			EXPECT_INT(record_at(&out, 8).body_len, RECORD_SIZE_MAX - 8);
		writer_fini(&out);
	}
	free(path);
}
