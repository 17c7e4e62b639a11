#include <stdio.h>
#include <unistd.h>

#include "data/source.h"
#include "data/test_recording.h"
#include "unit.h"

enum { RECORD_SIZE = 4096, RECORDS = 16384, RELEASE_EACH = 50, NOT_RELEASED = RECORDS, RESIDENT_KB_MOST = 44 << 10 };

/* Writes a recording of 64 MB: its records are numbered. */
static void write_numbered(const char *path)
{
	static char block[RECORD_SIZE];
	struct recording *r = recording_new(false);
	FILE *file = fopen(path, "w");
	begin_file(r, 1);
	put_at(r, 48, (uint64_t)RECORDS * RECORD_SIZE, 8);
	EXPECT(file && fwrite(r->bytes, 1, r->len, file) == r->len);
	for (uint64_t i = 0; file && i < RECORDS; i++) {
		r->len = 0;
		put(r, RECORD_LOST, 4);
		put(r, 0, 2);
		put(r, RECORD_SIZE, 2);
		put(r, i, 8);
		memcpy(block, r->bytes, r->len);
		EXPECT(fwrite(block, 1, sizeof block, file) == sizeof block);
	}
	EXPECT(file && fclose(file) == 0);
	free(r);
}

static long resident_file_kb(void)
{
	char line[128];
	long kb = -1;
	FILE *status = fopen("/proc/self/status", "r");
	while (status && fgets(line, sizeof line, status))
		sscanf(line, "RssFile: %ld", &kb);
	if (status)
		fclose(status);
	return kb;
}

struct reading {
	uint64_t count;
	long most_kb;   /* of the file in memory, more than before */
	int result;     /* of the last call: 0 at the end */
};

/* released: after how many records all are released. */
static struct reading read_numbered(const char *path, bool roomy, uint64_t released)
{
	struct reading reading = { 0 };
	struct source *source = NULL;
	struct record record;
	struct error err = { 0 };
	long before = resident_file_kb();
	EXPECT_INT(source_open(&source, path, NULL, &err), 0);
	if (!source)
		return reading;
	source->roomy = roomy;
	while ((reading.result = source_next(source, &record, &err)) > 0) {
		EXPECT(record.body_len == RECORD_SIZE - 8 && load_u64(record.body) == reading.count);
		reading.count++;
		if (reading.count % released)
			continue;
		source_release(source, source_mark(source));
		long kb = resident_file_kb() - before;
		reading.most_kb = kb > reading.most_kb ? kb : reading.most_kb;
	}
	source_close(source);
	return reading;
}

TEST("pages that another thread maps before they are read have the same records, and stay few")
{
	char path[] = "/tmp/source_ahead_test.XXXXXX";
	close(mkstemp(path));
	write_numbered(path);
	for (unsigned roomy = 0; roomy < 2; roomy++) {
		struct reading reading = read_numbered(path, roomy, RELEASE_EACH);
		EXPECT_INT(reading.result, 0);
		EXPECT_INT(reading.count, RECORDS);
		EXPECT(reading.most_kb < RESIDENT_KB_MOST);
		/* records that all wait */
		reading = read_numbered(path, roomy, NOT_RELEASED);
		EXPECT_INT(reading.count, RECORDS);
		EXPECT(reading.most_kb < RESIDENT_KB_MOST);
	}
	unlink(path);
}
