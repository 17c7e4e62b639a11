#include "data/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "data/source.h"
#include "unit.h"

static uint32_t add_event(struct evlist *evlist, uint64_t config, uint64_t id)
{
	struct attr attr = {
		.type = ATTR_SOFTWARE, .config = config, .sample_period = 1, .sample_type = SAMPLE_IP | SAMPLE_TID | SAMPLE_IDENTIFIER,
		.flags = (uint64_t)1 << ATTR_SAMPLE_ID_ALL,
	};
	return evlist_add(evlist, &attr, &id, 1, "x");
}

static void write_recording(const char *path, bool pipe_form)
{
	struct evlist evlist = { 0 };
	struct data_writer writer;
	struct feature_bodies features = { 0 };
	static const struct {
		uint32_t len;
		char text[8];
	} host = { 8, "here" };
	static const struct {
		uint32_t type;
		uint16_t misc, size;
	} mark = { RECORD_FINISHED_ROUND, 0, 8 }, init = { RECORD_FINISHED_INIT, 0, 8 };
	const struct span spans[] = { { (const uint8_t *)&mark, 8 }, { NULL, 0 }, { (const uint8_t *)&mark, 8 } };
	FILE *file = fopen(path, "w+b");
	add_event(&evlist, 0, 11);
	add_event(&evlist, 1, 12);
	feature_set(&features, FEATURE_HOSTNAME, (struct span){ (const uint8_t *)&host, sizeof host });
	feature_set(&features, FEATURE_BRANCH_STACK, (struct span){ 0 });
	feature_set(&features, FEATURE_PERF_MAPS, (struct span){ (const uint8_t *)"a map", 5 });
	EXPECT(data_writer_open(&writer, fileno(file), pipe_form, &evlist, NULL) == 0);
	data_writer_add(&writer, &init, sizeof init);
	EXPECT(data_writer_add_spans(&writer, spans, 3, NULL) == 0);
	EXPECT_INT(data_writer_size(&writer), 24 + (pipe_form ? 16 : 0));
	EXPECT(data_writer_finish(&writer, &evlist, &features, NULL) == 0);
	data_writer_fini(&writer);
	evlist_fini(&evlist);
	fclose(file);
}

TEST("a recording that was written is read back unchanged")
{
	char path[] = "/tmp/perfuse-writer-test-XXXXXX";
	struct source *source = NULL;
	struct source_options options = { 0 };
	struct record record;
	int records = 0, fd = mkstemp(path);
	close(fd);
	write_recording(path, false);
	EXPECT(source_open(&source, path, &options, NULL) == 0);
	if (source) {
		const struct header *header = &source->header;
		EXPECT(!header->interrupted && !header->pipe);
		EXPECT_INT(header->evlist.events.count, 2);
		EXPECT_INT(header->evlist.events.items[1].ids[0], 12);
		EXPECT_INT(header->evlist.events.items[0].attr.size, ATTR_SIZE_VER8);
		EXPECT_STR(header_string(header, FEATURE_HOSTNAME), "here");
		EXPECT(header_has(header, FEATURE_BRANCH_STACK));
		EXPECT(!header_has(header, FEATURE_VERSION));
		EXPECT(header_has(header, FEATURE_PERF_MAPS));
		EXPECT_INT(header->feature_data[FEATURE_PERF_MAPS].len, 5);
		EXPECT(memcmp(header->feature_data[FEATURE_PERF_MAPS].data, "a map", 5) == 0);
		while (source_next(source, &record, NULL) > 0)
			EXPECT_INT(record.type, records++ ? RECORD_FINISHED_ROUND : RECORD_FINISHED_INIT);
	}
	EXPECT_INT(records, 3);
	source_close(source);
	/* perf maps are not announced: perf's inject does not survive a feature that it does not know */
	uint64_t bits = 0;
	fd = open(path, O_RDONLY);
	EXPECT(pread(fd, &bits, sizeof bits, 72) == sizeof bits);
	EXPECT(bits == ((uint64_t)1 << FEATURE_HOSTNAME | (uint64_t)1 << FEATURE_BRANCH_STACK));
	close(fd);
	unlink(path);
}

TEST("attributes are stored with perf 6.12's size, and with a larger one if an event uses a later member")
{
	struct evlist evlist = { 0 };
	add_event(&evlist, 0, 1);
	EXPECT_INT(data_attr_size(&evlist), ATTR_SIZE_VER8);
	struct attr attr = { .type = ATTR_SOFTWARE, .config4 = 5 };
	evlist_add(&evlist, &attr, NULL, 0, NULL);
	EXPECT_INT(data_attr_size(&evlist), ATTR_SIZE_VER9);
	evlist_fini(&evlist);
}

TEST("records after a rewind replace those before it")
{
	char path[] = "/tmp/perfuse-writer-test-XXXXXX", bytes[16];
	struct data_writer writer;
	struct evlist evlist = { 0 };
	struct error err;
	int fd = mkstemp(path);
	add_event(&evlist, 0, 1);
	EXPECT_INT(data_writer_open(&writer, fd, false, &evlist, &err), 0);
	data_writer_add(&writer, "ab", 2);
	uint64_t size = data_writer_size(&writer);
	EXPECT_INT(size, 2);
	data_writer_add(&writer, "cdef", 4);
	EXPECT_INT(data_writer_rewind(&writer, size, &err), 0);
	EXPECT_INT(data_writer_size(&writer), 2);
	EXPECT_INT(pread(fd, bytes, sizeof bytes, (off_t)writer.data_offset), 6);
	EXPECT(memcmp(bytes, "abcdef", 6) == 0);
	data_writer_add(&writer, "ghijk", 5);
	EXPECT_INT(data_writer_flush(&writer, &err), 0);
	EXPECT_INT(pread(fd, bytes, sizeof bytes, (off_t)writer.data_offset), 7);
	EXPECT(memcmp(bytes, "abghijk", 7) == 0);
	data_writer_fini(&writer);
	evlist_fini(&evlist);
	close(fd);
	unlink(path);
}

TEST("a pipe begins with the short header")
{
	char path[] = "/tmp/perfuse-writer-test-XXXXXX";
	uint64_t head[2] = { 0 };
	close(mkstemp(path));
	write_recording(path, true);
	FILE *file = fopen(path, "rb");
	EXPECT_INT(fread(head, 1, sizeof head, file), 16);
	EXPECT(head[1] == 16);
	EXPECT(memcmp(head, HOST_IS_BIG_ENDIAN ? "2ELIFREP" : "PERFILE2", 8) == 0);
	fclose(file);
	unlink(path);
}

TEST("the end of a pipe's reader is reported as such, and that of a full device as it is")
{
	static const uint8_t records[64 << 10] = { 0 };
	struct evlist evlist = { 0 };
	void (*before)(int) = signal(SIGPIPE, SIG_IGN);
	for (int full = 0; full < 2; full++) {
		struct data_writer writer;
		struct error err = { 0 };
		int ends[2] = { -1, full ? open("/dev/full", O_WRONLY) : -1 };
		EXPECT(full ? ends[1] >= 0 : pipe(ends) == 0 && close(ends[0]) == 0);
		int status = data_writer_open(&writer, ends[1], true, &evlist, &err);
		if (status == 0) {
			data_writer_add(&writer, records, sizeof records);
			status = data_writer_flush(&writer, &err);
		}
		EXPECT(status < 0);
		EXPECT_INT(err.sys, full ? ENOSPC : EPIPE);
		EXPECT(full == !strstr(err.text, "the reader of the recording has gone"));
		data_writer_fini(&writer);
		close(ends[1]);
	}
	signal(SIGPIPE, before);
	evlist_fini(&evlist);
}
