#include "data/jitdump.h"

#include "data/jitdump_maker.h"
#include "unit.h"

static int open_dump(struct jitdump *dump, struct span *span, const struct dump_maker *m, size_t len)
{
	*span = (struct span){ m->data, len };
	struct reader reader = reader_of_span(span);
	return jitdump_open(dump, &reader, NULL);
}

TEST("records are read completely, in either byte order, and code stays in the file")
{
	for (int swap = 0; swap < 2; swap++) {
		struct dump_maker m = { .swap = swap };
		dump_begin(&m, 7, 1);
		dump_lines(&m, 9, 0x1000, 0, 5, "a.js");
		dump_load(&m, 10, 0x1000, 32, 3, "add a.js:5");
		dump_prefix(&m, 77, 24, 11);
		dump_u64(&m, 0);
		dump_move(&m, 12, 0x1000, 0x2000, 32, 3);
		dump_prefix(&m, JITDUMP_CLOSE, 16, 13);
		struct jitdump dump;
		struct jitdump_record record;
		struct span span;
		EXPECT(open_dump(&dump, &span, &m, m.len) == 0);
		EXPECT(dump.header.arch_timestamp && dump.header.pid == 7 && dump.header.machine == 62);
		EXPECT(jitdump_next(&dump, &record) == 1 && record.type == JITDUMP_DEBUG_INFO);
		struct jitdump_lines lines;
		struct jitdump_line line;
		jitdump_lines_init(&lines, &dump, &record.debug, m.data + record.debug.offset);
		EXPECT(jitdump_lines_next(&lines, &line) && line.address == 0x1000 && line.line == 5);
		EXPECT_STR(line.file, "a.js");
		EXPECT(jitdump_lines_next(&lines, &line) && line.address == 0x1004 && line.line == 6);
		EXPECT_STR(line.file, "a.js");
		EXPECT(!jitdump_lines_next(&lines, &line));
		EXPECT(jitdump_next(&dump, &record) == 1 && record.type == JITDUMP_LOAD && record.timestamp == 10);
		EXPECT_STR(record.load.name, "add a.js:5");
		EXPECT(record.load.address == 0x1000 && record.load.size == 32 && record.load.index == 3);
		EXPECT_INT(m.data[record.load.code_offset], 3);
		EXPECT_INT(m.data[record.load.code_offset + 31], 3);
		EXPECT(jitdump_next(&dump, &record) == 1 && record.type == 77);
		EXPECT(jitdump_next(&dump, &record) == 1 && record.type == JITDUMP_MOVE && record.move.to == 0x2000);
		EXPECT(jitdump_next(&dump, &record) == 1 && record.type == JITDUMP_CLOSE);
		EXPECT(jitdump_next(&dump, &record) == 0);
		jitdump_fini(&dump);
	}
}

TEST("a dump that is still being written ends before the incomplete record, wherever it is cut")
{
	struct dump_maker m = { 0 };
	dump_begin(&m, 7, 0);
	size_t first = m.len;
	dump_load(&m, 10, 0x1000, 32, 1, "one");
	size_t second = m.len;
	dump_load(&m, 11, 0x1100, 32, 2, "two");
	for (size_t len = 0; len <= m.len; len++) {
		struct jitdump dump;
		struct jitdump_record record;
		struct span span;
		int count = 0;
		if (open_dump(&dump, &span, &m, len) < 0) {
			EXPECT(len < first);
			continue;
		}
		while (jitdump_next(&dump, &record) == 1)
			count++;
		EXPECT_INT(count, len < second ? 0 : len < m.len ? 1 : 2);
		jitdump_fini(&dump);
	}
}

TEST("invalid sizes are skipped: code larger than its record, a record smaller than its header, a name without an end")
{
	struct dump_maker m = { 0 };
	dump_begin(&m, 7, 0);
	size_t at = m.len;
	dump_load(&m, 10, 0x1000, 32, 1, "one");
	memset(m.data + at + 40, 0xff, 8); /* code size */
	at = m.len;
	dump_load(&m, 10, 0x1000, 32, 1, "name");
	memset(m.data + at + 60, 'x', 1); /* extends into the code */
	dump_load(&m, 10, UINT64_MAX - 8, 32, 1, "wraps");
	dump_prefix(&m, JITDUMP_MOVE, 20, 10);
	dump_u32(&m, 0);
	dump_prefix(&m, JITDUMP_CLOSE, 15, 10);
	struct jitdump dump;
	struct jitdump_record record;
	struct span span;
	EXPECT(open_dump(&dump, &span, &m, m.len) == 0);
	EXPECT(jitdump_next(&dump, &record) == 1);
	EXPECT_STR(record.load.name, "namex");
	EXPECT(jitdump_next(&dump, &record) == 0);
	EXPECT_INT(dump.bad_records, 3);
	jitdump_fini(&dump);
}

TEST("a file that is not a jitdump, or has a later version, is rejected")
{
	struct dump_maker m = { 0 };
	struct jitdump dump;
	struct span span;
	dump_begin(&m, 7, 0);
	const unsigned low = HOST_IS_BIG_ENDIAN ? 3 : 0;
	m.data[4 + low] = 2;
	EXPECT(open_dump(&dump, &span, &m, m.len) < 0);
	m.data[4 + low] = 1;
	m.data[32] = 2;
	EXPECT(open_dump(&dump, &span, &m, m.len) < 0);
	m.data[32] = 0;
	m.data[8 + low] = 39;
	EXPECT(open_dump(&dump, &span, &m, m.len) < 0);
	m.data[8 + low] = 40;
	EXPECT(open_dump(&dump, &span, &m, m.len) == 0);
	jitdump_fini(&dump);
	m.data[0] = 0;
	EXPECT(open_dump(&dump, &span, &m, m.len) < 0);
}

TEST("a dump is recognized by the name under which its process maps it")
{
	EXPECT_INT(jitdump_pid_of_path("/tmp/jit-12.dump"), 12);
	EXPECT_INT(jitdump_pid_of_path("/root/.debug/jit/java-jit-20261120.x/jit-7.dump"), 7);
	EXPECT_INT(jitdump_pid_of_path("/tmp/jit-12.dump (deleted)"), -1);
	EXPECT_INT(jitdump_pid_of_path("/tmp/jit-.dump"), -1);
	EXPECT_INT(jitdump_pid_of_path("/tmp/jit--1.dump"), -1);
	EXPECT_INT(jitdump_pid_of_path("/tmp/xjit-12.dump"), -1);
	EXPECT_INT(jitdump_pid_of_path("jit-12.dump"), -1);
}
