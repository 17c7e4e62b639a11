#include "data/source.h"

#include "data/source_internal.h"
#include "data/test_recording.h"
#include "unit.h"

/* Reads all records; the counters and the header remain. */
static struct source *read_whole(const struct recording *r)
{
	struct source *source = NULL;
	struct record record;
	struct error err = { 0 };
	EXPECT(source_open_memory(&source, r->bytes, r->len, &err) == 0);
	while (source_next(source, &record, &err) > 0)
		;
	EXPECT_STR(err.text, "");
	return source;
}

TEST("types that a newer kernel may have are counted separately from invalid ones, in files and streams and both byte orders")
{
	for (int form = 0; form < 4; form++) {
		static const uint32_t types[] = { RECORD_KERNEL_TYPE_MAX, 63, RECORD_TYPE_MAX, 255, 0, 256, 1u << 24 };
		struct recording *r = recording_new(form & 1);
		if (form < 2)
			begin_file(r, 1);
		else
			begin_stream(r);
		size_t data = r->len;
		for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
			size_t at = begin_record(r, types[i], 0);
			put_bytes(r, (const char[32]){ 0 }, 32); /* room for the trailer of a kernel record */
			end_record(r, at);
		}
		if (form < 2)
			end_data(r, data);
		struct source *source = read_whole(r);
		EXPECT_INT(source->counters.unknown_types, 4);
		EXPECT_INT(source->counters.bad_records, 3);
		source_close(source);
		free(r);
	}
}

TEST("event descriptions that exceed their room are counted, in a file and in a stream")
{
	struct recording *r = recording_new(false);
	begin_file(r, 1);
	end_data(r, r->len);
	struct source *source = read_whole(r);
	EXPECT_INT(source->header.bad_attrs, 0);
	source_close(source);
	put_at(r, 104 + 4, 4000, 4);
	source = read_whole(r);
	EXPECT_INT(source->header.bad_attrs, 1);
	source_close(source);
	begin_stream(r);
	put_header_attr(r, 0, 10);
	put_at(r, 16 + 8 + 4, 4000, 4);
	put_header_attr(r, 1, 20);
	source = read_whole(r);
	EXPECT_INT(source->header.bad_attrs, 1);
	EXPECT_INT(source->header.evlist.events.count, 1);
	source_close(source);
	free(r);
}

TEST("a file with records but no event is damaged, one without either is not")
{
	struct recording *r = recording_new(false);
	begin_file(r, 0);
	end_data(r, r->len);
	struct source *source = read_whole(r);
	EXPECT_INT(source->header.bad_attrs, 0);
	source_close(source);
	size_t data = r->len;
	put_round(r);
	end_data(r, data);
	source = read_whole(r);
	EXPECT_INT(source->header.bad_attrs, 1);
	source_close(source);
	free(r);
}

TEST("a build-id table that ends within a row is counted, and yields the rows before")
{
	struct recording *r = recording_new(false);
	begin_file(r, 1);
	size_t data = r->len;
	put_round(r);
	end_data(r, data);
	size_t table = begin_features(r, 1u << FEATURE_BUILD_ID), at = r->len;
	for (int i = 0; i < 2; i++) {
		size_t record = begin_record(r, RECORD_HEADER_BUILD_ID, RECORD_MISC_USER);
		put(r, (uint32_t)-1, 4);
		put_bytes(r, "ABCDEFGHIJKLMNOPQRST\0\0\0\0", 24);
		put_bytes(r, "/bin/sleep\0\0\0\0\0\0", 16);
		end_record(r, record);
	}
	end_feature(r, &table, at);
	struct source *source = read_whole(r);
	EXPECT_INT(source->header.bad_build_ids, 0);
	source_close(source);
	table -= 16;
	r->len -= 8;
	end_feature(r, &table, at);
	source = read_whole(r);
	EXPECT_INT(source->header.build_ids.count, 1);
	EXPECT_INT(source->header.bad_build_ids, 1);
	source_close(source);
	free(r);
}

TEST("a part of a folder that ends within a record does not affect the records of other parts")
{
	static const char *const names[] = { "data", "data.1", "data.2", NULL };
	char folder[] = "/tmp/source_test.XXXXXX";
	struct recording *r = recording_new(false);
	struct source *source;
	struct record record;
	struct error err = { 0 };
	int count = 0, more;
	EXPECT(mkdtemp(folder) != NULL);
	begin_file(r, 1);
	size_t data = r->len;
	put_sample(r, 10, 0, 1);
	end_data(r, data);
	write_file(folder, "data", r->bytes, r->len);
	r->len = 0;
	for (int i = 0; i < 5; i++)
		put_sample(r, 10, 1, 1);
	write_file(folder, "data.1", r->bytes, r->len - 3);
	write_file(folder, "data.2", r->bytes, r->len);
	EXPECT(source_open(&source, folder, NULL, NULL) == 0);
	while ((more = source_next(source, &record, &err)) > 0)
		count++;
	EXPECT_INT(more, -1);
	EXPECT(strstr(err.text, "data.1: the record at offset 160"));
	EXPECT_INT(count, 1 + 4 + 5);
	EXPECT_INT(source_next(source, &record, &err), 0);
	source_close(source);
	remove_folder(folder, names);
	free(r);
}
