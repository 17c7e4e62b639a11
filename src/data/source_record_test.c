#include "data/source_internal.h"
#include "data/test_recording.h"

TEST("a row of the build-id table may identify one of the files with its path")
{
	struct __attribute__((packed)) {
		int32_t pid;
		uint8_t id[24];
		char name[8], mark[8];
		uint32_t maj, min;
		uint64_t ino, generation;
	} row = { .pid = -1, .id = { [20] = 20 }, .name = "/bin/x", .mark = BUILD_ID_IDENTITY_MARK,
		.maj = 8, .min = 1, .ino = 77, .generation = 5 };
	struct header header = { 0 };
	header_add_build_id(&header, RECORD_MISC_USER | RECORD_MISC_EXT_RESERVED, (const uint8_t *)&row, sizeof row, false);
	header_add_build_id(&header, RECORD_MISC_USER, (const uint8_t *)&row, sizeof row - 8, false); /* truncated: identified only by path */
	row.mark[0] = 'M';
	header_add_build_id(&header, RECORD_MISC_USER, (const uint8_t *)&row, sizeof row, false);
	EXPECT_INT(header.build_ids.count, 3);
	const struct build_id_entry *entry = header.build_ids.items;
	EXPECT(entry->one_of_many && entry->maj == 8 && entry->min == 1 && entry->ino == 77 && entry->ino_generation == 5);
	EXPECT_STR(entry->filename, "/bin/x");
	EXPECT(!entry[1].one_of_many && !entry[2].one_of_many);
	EXPECT_STR(entry[2].filename, "/bin/x");
	header_fini(&header);
}

/* What a stream's first bytes tell of a hardware trace, in order of their number: how many of them must come before an answer. */
static void expect_trace(const struct recording *r, int answer, const size_t *wanted)
{
	size_t want = 0;
	int got = -1;
	for (size_t len = 0; len <= r->len && got < 0; len++) {
		got = records_find_trace(r->bytes, len, r->swap, &want);
		if (got >= 0)
			break;
		EXPECT(want > len);
		while (*wanted <= len)
			wanted++;
		EXPECT_INT(want, *wanted);
	}
	EXPECT_INT(got, answer);
}

static void put_empty(struct recording *r, uint32_t type, size_t body)
{
	size_t at = begin_record(r, type, 0);
	for (size_t i = 0; i < body; i++)
		put(r, 0, 1);
	end_record(r, at);
}

TEST("a hardware trace is known once its information came, behind records of the head alone, in both byte orders")
{
	for (int swap = 0; swap < 2; swap++) {
		struct recording *r = recording_new(swap);
		put_empty(r, RECORD_HEADER_ATTR, 16);
		put_empty(r, RECORD_CPU_MAP, 8);
		put_empty(r, RECORD_AUXTRACE_INFO, 8);
		expect_trace(r, 1, (const size_t[]){ 8, 24, 32, 40, 48, 56 });
		r->len = 0;
		put_empty(r, RECORD_TIME_CONV, 24);
		put_empty(r, RECORD_MMAP, 32);
		put_empty(r, RECORD_AUXTRACE_INFO, 8);
		expect_trace(r, 0, (const size_t[]){ 8, 32, 40, 72 });
		r->len = 0;
		size_t at = begin_record(r, RECORD_HEADER_TRACING_DATA, 0);
		put(r, 16, 4);
		put(r, 0, 4);
		end_record(r, at);
		put(r, 1, 8);
		put(r, 2, 8);
		put_empty(r, RECORD_AUXTRACE_INFO, 0);
		expect_trace(r, 1, (const size_t[]){ 8, 16, 40, 48 });
		put_at(r, 8, (1 << 20) + 1, 4);
		EXPECT_INT(records_find_trace(r->bytes, 16, swap, &(size_t){ 0 }), 0);
		free(r);
	}
}
