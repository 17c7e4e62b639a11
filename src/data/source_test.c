#include "data/source.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/str.h"
#include "data/source_internal.h"
#include "data/test_recording.h"
#include "unit.h"

/* Formats all records of a source, one line each. */
static int describe(struct source *source, struct str *out, struct error *err)
{
	struct record record;
	struct sample sample;
	int result;
	while ((result = source_next(source, &record, err)) == 1) {
		uint32_t event = evlist_event_of(&source->header.evlist, &record);
		const char *name = record_type_name(record.type);
		str_printf(out, "%s", name ? name : "?");
		if (record.type < RECORD_USER_TYPE_START && event < source->header.evlist.events.count) {
			const struct sample_layout *layout = &source->header.evlist.events.items[event].layout;
			if (record.type == RECORD_SAMPLE)
				EXPECT(sample_decode(&sample, layout, &record, NULL) == 0);
			else
				sample_decode_trailer(&sample, layout, &record);
			str_printf(out, " event %u ip %#llx tid %u time %llu", event, (unsigned long long)sample.ip, sample.tid,
				   (unsigned long long)sample.time);
		}
		str_puts(out, "\n");
	}
	return result;
}

static const char the_data[] = "COMM event 0 ip 0 tid 101 time 1\n"
			       "SAMPLE event 0 ip 0x401000 tid 101 time 2\n"
			       "SAMPLE event 1 ip 0x402000 tid 101 time 3\n"
			       "FINISHED_ROUND\n"
			       "SAMPLE event 0 ip 0x403000 tid 101 time 4\n";

/* The descriptor of a file of these bytes, at its start. */
static int bytes_descriptor(const void *bytes, size_t len)
{
	int fd = memfd_create("recording", 0);
	EXPECT(write(fd, bytes, len) == (ssize_t)len);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static void expect_memory(const struct recording *r, const char *want, const char *failure)
{
	struct source *source = NULL;
	struct error err = { 0 };
	struct str out = { 0 };
	if (source_open_memory(&source, r->bytes, r->len, &err) == 0) {
		int result = describe(source, &out, &err);
		EXPECT_INT(result, failure ? -1 : 0);
	}
	EXPECT_STR(str_text(&out), want);
	EXPECT_STR(err.text, failure ? failure : "");
	source_close(source);
	str_fini(&out);
}

TEST("a file yields its events, groups, features and records, in both byte orders")
{
	for (int swap = 0; swap < 2; swap++) {
		struct recording *r = recording_new(swap);
		struct source *source = NULL;
		make_file(r);
		expect_memory(r, the_data, NULL);
		EXPECT(source_open_memory(&source, r->bytes, r->len, NULL) == 0);
		const struct header *header = &source->header;
		EXPECT_INT(header->swapped, swap);
		EXPECT(!header->pipe && !header->v1 && !header->interrupted && !header->compressed);
		EXPECT_INT(header->evlist.events.count, 2);
		const struct evsel *events = header->evlist.events.items;
		EXPECT_STR(events[0].name, "cpu-clock");
		EXPECT_STR(events[1].name, "task-clock");
		EXPECT_STR(events[0].group_name, "both");
		EXPECT_INT(events[0].group_members, 2);
		EXPECT_INT(events[1].leader, 0);
		EXPECT_INT(events[1].group_members, 0);
		EXPECT_INT(events[1].attr.config, 1);
		EXPECT(attr_flag(&events[1].attr, ATTR_SAMPLE_ID_ALL));
		EXPECT_STR(header_string(header, FEATURE_HOSTNAME), "host");
		EXPECT(!header_string(header, FEATURE_ARCH));
		EXPECT(header_has(header, FEATURE_GROUP_DESC) && !header_has(header, FEATURE_ARCH));
		EXPECT_INT(header->build_ids.count, 1);
		EXPECT_STR(header->build_ids.items[0].filename, "/bin/sleep");
		EXPECT_INT(header->build_ids.items[0].pid, -1);
		EXPECT_INT(header->build_ids.items[0].id.len, 20);
		EXPECT(memcmp(header->build_ids.items[0].id.bytes, "ABCDEFGHIJKLMNOPQRST", 20) == 0);
		source_close(source);
		free(r);
	}
}

static void expect_stream_header(const struct header *header)
{
	EXPECT(header->pipe);
	EXPECT_INT(header->evlist.events.count, 2);
	EXPECT_STR(header->evlist.events.items[1].name, "task-clock");
	EXPECT(!header->evlist.events.items[0].name);
	const struct cpu_list *cpus = header->evlist.events.items[0].cpus;
	EXPECT_INT(cpus ? cpus->count : 0, 4);
	EXPECT(cpus && cpus->cpus[0] == -1 && cpus->cpus[1] == 4 && cpus->cpus[3] == 6);
	EXPECT_STR(header_string(header, FEATURE_HOSTNAME), "host");
	EXPECT_INT(header->feature_data[FEATURE_TRACING_DATA].len, 8);
	EXPECT(memcmp(header->feature_data[FEATURE_TRACING_DATA].data, "tracing!", 8) == 0);
	EXPECT_INT(header->build_ids.count, 1);
	EXPECT_INT(header->build_ids.items[0].id.len, 8);
}

static const char the_stream[] = "ATTR\nATTR\nFEATURE\nEVENT_UPDATE\nEVENT_UPDATE\nTRACING_DATA\nBUILD_ID\n";

TEST("a stream yields the same as records, from a pipe or a file, in both byte orders")
{
	for (int round = 0; round < 4; round++) {
		struct recording *r = recording_new(round & 1);
		struct source *source = NULL;
		struct str out = { 0 }, want = { 0 };
		make_stream(r);
		if (round & 2)
			EXPECT(source_open_memory(&source, r->bytes, r->len, NULL) == 0);
		else
			EXPECT(source_open_stream(&source, bytes_descriptor(r->bytes, r->len), "stream", NULL) == 0);
		EXPECT_INT(describe(source, &out, NULL), 0);
		str_printf(&want, "%s%s", the_stream, the_data);
		EXPECT_STR(str_text(&out), str_text(&want));
		expect_stream_header(&source->header);
		source_close(source);
		str_fini(&out);
		str_fini(&want);
		free(r);
	}
}

TEST("record offsets of a stream are relative to the end of its header")
{
	struct recording *r = recording_new(false);
	struct source *source;
	struct record record;
	make_stream(r);
	EXPECT(source_open_stream(&source, bytes_descriptor(r->bytes, r->len), "stream", NULL) == 0);
	EXPECT_INT(source_next(source, &record, NULL), 1);
	EXPECT_INT(record.offset, 0);
	EXPECT_INT(source_next(source, &record, NULL), 1);
	EXPECT_INT(record.offset, 8 + ATTR_SIZE_VER8 + 8);
	source_close(source);
	free(r);
}

TEST("every prefix of a recording yields its complete records and then an error")
{
	for (int form = 0; form < 6; form++) {
		struct recording *r = recording_new(form & 1);
		if (form < 2)
			make_file(r);
		else
			make_stream(r);
		for (size_t len = 0; len < r->len; len++) {
			struct source *source = NULL;
			struct error err = { 0 };
			struct str out = { 0 };
			int opened = form < 4 ? source_open_memory(&source, r->bytes, len, &err) :
						source_open_stream(&source, bytes_descriptor(r->bytes, len), "stream", &err);
			int result = opened < 0 ? -1 : describe(source, &out, &err);
			EXPECT(result == 0 || strstr(err.text, form < 4 ? "memory" : "stream"));
			EXPECT(strncmp(str_text(&out), form < 2 ? the_data : the_stream, form < 2 ? out.len : 0) == 0);
			source_close(source);
			str_fini(&out);
		}
		free(r);
	}
}

TEST("a recording whose recorder was killed is read to the end of the file")
{
	struct recording *r = recording_new(false);
	struct source *source;
	begin_file(r, 2);
	put_at(r, 72, 1u << FEATURE_HOSTNAME, 8);
	put_comm(r, 10, "sleep", 1);
	put_sample(r, 20, 0x401000, 2);
	expect_memory(r, "COMM event 0 ip 0 tid 101 time 1\nSAMPLE event 1 ip 0x401000 tid 101 time 2\n", NULL);
	EXPECT(source_open_memory(&source, r->bytes, r->len, NULL) == 0);
	EXPECT(source->header.interrupted);
	EXPECT(!source->header.feature_data[FEATURE_HOSTNAME].data);
	source_close(source);
	free(r);
}

TEST("a recording without any data still has its features")
{
	struct recording *r = recording_new(false);
	struct source *source;
	begin_file(r, 1);
	size_t table = begin_features(r, 1u << FEATURE_HOSTNAME), at = r->len;
	put_string(r, "host");
	end_feature(r, &table, at);
	expect_memory(r, "", NULL);
	EXPECT(source_open_memory(&source, r->bytes, r->len, NULL) == 0);
	EXPECT(!source->header.interrupted);
	EXPECT_STR(header_string(&source->header, FEATURE_HOSTNAME), "host");
	source_close(source);
	free(r);
}

TEST("an invalid record size ends reading with an error")
{
	struct recording *r = recording_new(false);
	begin_file(r, 1);
	size_t data = r->len;
	put_sample(r, 10, 0x401000, 2);
	begin_record(r, RECORD_COMM, 0);
	end_data(r, data);
	expect_memory(r, "SAMPLE event 0 ip 0x401000 tid 101 time 2\n",
		      "memory: the record at offset 304 claims 0 bytes, 8 at least were expected");
	put_at(r, 304 + 6, 7, 2);
	expect_memory(r, "SAMPLE event 0 ip 0x401000 tid 101 time 2\n",
		      "memory: the record at offset 304 claims 7 bytes, 8 at least were expected");
	put_at(r, 304 + 6, 9, 2);
	expect_memory(r, "SAMPLE event 0 ip 0x401000 tid 101 time 2\n",
		      "memory: the record at offset 304 claims 9 bytes, but only 8 are left");
	free(r);
}

TEST("a file that is not a recording is rejected with an error")
{
	struct recording *r = recording_new(false);
	struct source *source;
	struct error err = { 0 };
	EXPECT(source_open_memory(&source, "", 0, &err) < 0);
	EXPECT_STR(err.text, "memory: 0 bytes are too few for a recording's header");
	EXPECT(source_open_memory(&source, "#!/bin/sh\necho hello\n", 21, &err) < 0);
	EXPECT_STR(err.text, "memory: not a perf.data file: it starts with neither PERFILE2 nor PERFFILE");
	begin_file(r, 1);
	put_at(r, 8, 103, 8);
	EXPECT(source_open_memory(&source, r->bytes, r->len, &err) < 0);
	EXPECT_STR(err.text, "memory: the header at offset 8 claims a size of 103 bytes, 104 were expected");
	begin_file(r, 1);
	put_at(r, 16, 79, 8);
	EXPECT(source_open_memory(&source, r->bytes, r->len, &err) < 0);
	EXPECT_STR(err.text, "memory: the header claims 79 bytes an event at offset 16, 80 at least were expected");
	begin_file(r, 1);
	put_at(r, 24, UINT64_MAX - 8, 8);
	EXPECT(source_open_memory(&source, r->bytes, r->len, &err) < 0);
	begin_file(r, 1);
	put_at(r, 40, 1 << 20, 8);
	EXPECT(source_open_memory(&source, r->bytes, r->len, &err) < 0);
	EXPECT_STR(err.text, "memory: the data is said to start at offset 1048576, beyond the file's 264 bytes");
	free(r);
}

TEST("events that share one huge list of ids are rejected")
{
	struct recording *r = recording_new(false);
	struct source *source;
	struct error err = { 0 };
	begin_file(r, 8);
	for (size_t i = 0; i < 8; i++) {
		size_t entry = 104 + i * (ATTR_SIZE_VER8 + 16) + ATTR_SIZE_VER8;
		put_at(r, entry, 0, 8);
		put_at(r, entry + 8, r->len / 2, 8);
	}
	EXPECT(source_open_memory(&source, r->bytes, r->len, &err) < 0);
	EXPECT(strstr(err.text, "the ids of event 2 are said to be"));
	free(r);
}

TEST("the format of 2009 is read")
{
	for (int swap = 0; swap < 2; swap++) {
		struct recording *r = recording_new(swap);
		struct source *source;
		make_file(r);
		memcpy(r->bytes, "PERFFILE", 8);
		expect_memory(r, the_data, NULL);
		put_at(r, 8, 72, 8); /* without features */
		EXPECT(source_open_memory(&source, r->bytes, r->len, NULL) == 0);
		EXPECT(source->header.v1 && source->header.swapped == swap);
		EXPECT(!header_has(&source->header, FEATURE_HOSTNAME));
		source_close(source);
		free(r);
	}
}

TEST("old files name their tracepoints in a table of event types")
{
	struct recording *r = recording_new(false);
	struct source *source;
	char name[64] = "sched:sched_switch";
	begin_file(r, 1);
	put_at(r, 104, ATTR_TRACEPOINT, 4);
	size_t data = r->len;
	end_data(r, data);
	put_at(r, 56, r->len, 8);
	put_at(r, 64, 72, 8);
	put(r, 0, 8);
	put_bytes(r, name, sizeof name);
	EXPECT(source_open_memory(&source, r->bytes, r->len, NULL) == 0);
	EXPECT_STR(source->header.evlist.events.items[0].name, "sched:sched_switch");
	source_close(source);
	free(r);
}

TEST("the first build-id tables had no pid")
{
	struct recording *r = recording_new(false);
	struct source *source;
	begin_file(r, 1);
	end_data(r, r->len);
	size_t table = begin_features(r, 1u << FEATURE_BUILD_ID), at = r->len;
	put_at(r, 48, 0, 8);
	size_t record = begin_record(r, RECORD_HEADER_BUILD_ID, RECORD_MISC_KERNEL);
	put_bytes(r, "ABCDEFGHIJKLMNOPQRST\0\0\0\0", 24);
	put_bytes(r, "[kernel.kallsyms]\0\0\0\0\0\0\0", 24);
	end_record(r, record);
	end_feature(r, &table, at);
	EXPECT(source_open_memory(&source, r->bytes, r->len, NULL) == 0);
	EXPECT_INT(source->header.build_ids.count, 1);
	EXPECT_STR(source->header.build_ids.items[0].filename, "[kernel.kallsyms]");
	EXPECT(memcmp(source->header.build_ids.items[0].id.bytes, "ABCDEFGHIJKLMNOPQRST", 20) == 0);
	EXPECT_INT(source->header.build_ids.items[0].pid, -1);
	source_close(source);
	free(r);
}

/* Writes `records` into compressed records of at most `piece` bytes of input each, all of one stream. */
static void put_compressed(struct recording *r, const struct recording *records, size_t piece, uint32_t type)
{
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	for (size_t at = 0; at < records->len; at += piece) {
		uint8_t bytes[4096];
		size_t n = records->len - at < piece ? records->len - at : piece;
		ZSTD_inBuffer in = { records->bytes + at, n, 0 };
		ZSTD_outBuffer out = { bytes, sizeof bytes, 0 };
		EXPECT(ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_flush) == 0);
		size_t record = begin_record(r, type, 0);
		if (type == RECORD_COMPRESSED2)
			put(r, out.pos, 8);
		put_bytes(r, bytes, out.pos);
		while (type == RECORD_COMPRESSED2 && r->len % 8)
			put_bytes(r, "", 1);
		end_record(r, record);
	}
	ZSTD_freeCCtx(zstd);
}

static void put_the_data(struct recording *r)
{
	put_comm(r, 10, "sleep", 1);
	put_sample(r, 10, 0x401000, 2);
	put_sample(r, 20, 0x402000, 3);
	put_round(r);
	put_sample(r, 10, 0x403000, 4);
}

/* Drops the lines of `text` that name a compressed record. */
static void drop_compressed_lines(struct str *text)
{
	struct str left = { 0 };
	for (const char *line = str_text(text); *line;) {
		size_t len = strcspn(line, "\n") + 1;
		if (strncmp(line, "COMPRESSED", 10) != 0)
			str_add(&left, line, len);
		line += len;
	}
	str_fini(text);
	*text = left;
}

TEST("records are read from compressed ones wherever these are split, in both byte orders and containers")
{
	for (int round = 0; round < 8; round++) {
		struct recording *r = recording_new(round & 1), *inner = recording_new(round & 1);
		put_the_data(inner);
		for (size_t piece = 1; piece <= inner->len; piece += piece < 60 ? 1 : 37) {
			struct source *source = NULL;
			struct str out = { 0 };
			begin_file(r, 2);
			if (round & 4) {
				begin_stream(r);
				put_header_attr(r, 0, 10);
				put_header_attr(r, 1, 20);
			}
			size_t data = r->len;
			put_compressed(r, inner, piece, round & 2 ? RECORD_COMPRESSED2 : RECORD_COMPRESSED);
			if (!(round & 4))
				end_data(r, data);
			if (round & 4)
				EXPECT(source_open_stream(&source, bytes_descriptor(r->bytes, r->len), "stream", NULL) == 0);
			else
				EXPECT(source_open_memory(&source, r->bytes, r->len, NULL) == 0);
			EXPECT_INT(describe(source, &out, NULL), 0);
			EXPECT(strstr(str_text(&out), "COMPRESSED"));
			drop_compressed_lines(&out);
			EXPECT_STR(strstr(str_text(&out), "COMM "), the_data);
			source_close(source);
			str_fini(&out);
		}
		free(r);
		free(inner);
	}
}

TEST("a few compressed records expand to megabytes, and only unreleased bytes are retained")
{
	struct recording *r = recording_new(false);
	struct source *source;
	struct record record;
	uint64_t count = 1 << 17, seen = 0, sum = 0;
	size_t room = count * 40, data;
	uint8_t *plain = malloc(room), *packed = malloc(room);
	r->len = 0;
	for (uint64_t i = 0; i < count; i++) {
		r->len = 0;
		put_sample(r, 10, i, i);
		memcpy(plain + i * 40, r->bytes, 40);
	}
	size_t size = ZSTD_compress(packed, room, plain, room, 19);
	EXPECT(!ZSTD_isError(size) && size < 1 << 20);
	uint8_t *bytes = malloc(size + sizeof r->bytes);
	begin_file(r, 1);
	data = r->len;
	put_at(r, 48, size + (size + 9999) / 10000 * 8, 8);
	memcpy(bytes, r->bytes, data);
	for (size_t at = 0; at < size; at += 10000) {
		size_t n = size - at < 10000 ? size - at : 10000;
		r->len = 0;
		begin_record(r, RECORD_COMPRESSED, 0);
		put_at(r, 6, n + 8, 2);
		memcpy(bytes + data, r->bytes, 8);
		memcpy(bytes + data + 8, packed + at, n);
		data += n + 8;
	}
	EXPECT(source_open_memory(&source, bytes, data, NULL) == 0);
	while (source_next(source, &record, NULL) == 1) {
		if (record.type == RECORD_SAMPLE) {
			sum += load_u64(record.body + 8);
			seen++;
		}
		source_release(source, source_mark(source));
	}
	EXPECT_INT(seen, count);
	EXPECT_INT(sum, count * (count - 1) / 2);
	source_close(source);
	free(bytes);
	free(packed);
	free(plain);
	free(r);
}

TEST("a compressed stream that ends within a record is an error")
{
	struct recording *r = recording_new(false), *inner = recording_new(false);
	put_sample(inner, 10, 0x401000, 2);
	put_sample(inner, 10, 0x401000, 3);
	inner->len -= 5;
	begin_file(r, 1);
	size_t data = r->len;
	put_compressed(r, inner, inner->len, RECORD_COMPRESSED);
	end_data(r, data);
	expect_memory(r, "COMPRESSED\nSAMPLE event 0 ip 0x401000 tid 101 time 2\n",
		      "memory: what the compressed record at offset 264 holds is cut, 35 bytes into a record");
	free(r);
	free(inner);
}

TEST("invalid compressed data is reported with its offset")
{
	struct recording *r = recording_new(false);
	begin_file(r, 1);
	size_t data = r->len, at = begin_record(r, RECORD_COMPRESSED, 0);
	put_bytes(r, "not zstd", 8);
	end_record(r, at);
	end_data(r, data);
	expect_memory(r, "COMPRESSED\n",
		      "memory: the compressed record at offset 264 does not decompress: Unknown frame descriptor");
	begin_file(r, 1);
	at = begin_record(r, RECORD_COMPRESSED2, 0);
	put(r, 9, 8);
	put_bytes(r, "too few.", 8);
	end_record(r, at);
	end_data(r, data);
	expect_memory(r, "", "memory: the compressed record at offset 264 claims more than its 16 bytes");
	free(r);
}

static void put_auxtrace(struct recording *r, uint64_t size)
{
	size_t at = begin_record(r, RECORD_AUXTRACE, 0);
	put(r, size, 8);
	put(r, 0, 8);
	put(r, 0, 8);
	for (int i = 0; i < 4; i++)
		put(r, 0, 4);
	end_record(r, at);
}

TEST("the payload after an AUXTRACE record is skipped, and available from a file")
{
	struct recording *r = recording_new(false);
	struct source *source;
	struct record record;
	begin_file(r, 1);
	size_t data = r->len;
	put_auxtrace(r, 24);
	put_bytes(r, "a trace of what happened", 24);
	put_sample(r, 10, 0x401000, 2);
	end_data(r, data);
	EXPECT(source_open_memory(&source, r->bytes, r->len, NULL) == 0);
	EXPECT_INT(source_next(source, &record, NULL), 1);
	const uint8_t *payload = source_payload(source, &record, 24);
	EXPECT(payload && memcmp(payload, "a trace of what happened", 24) == 0);
	source_drop_payload(source, payload, 24);
	EXPECT(memcmp(payload, "a trace of what happened", 24) == 0);
	EXPECT(!source_payload(source, &record, 1 << 20) && !source_payload(source, &record, UINT64_MAX));
	EXPECT_INT(source_next(source, &record, NULL), 1);
	EXPECT_INT(record.type, RECORD_SAMPLE);
	EXPECT_INT(source_next(source, &record, NULL), 0);
	source_close(source);

	put_at(r, data + 8, 65, 8);
	expect_memory(r, "", "memory: 65 bytes are said to follow at offset 312, but only 64 are left");
	free(r);
}

TEST("the payload in a pipe is skipped, too")
{
	struct recording *r = recording_new(false);
	struct source *source;
	struct error err = { 0 };
	struct str out = { 0 };
	begin_stream(r);
	put_header_attr(r, 0, 10);
	size_t aux = r->len;
	put_auxtrace(r, 40000);
	r->len += 40000;
	put_sample(r, 10, 0x401000, 2);
	EXPECT(source_open_stream(&source, bytes_descriptor(r->bytes, r->len), "stream", NULL) == 0);
	EXPECT_INT(describe(source, &out, &err), 0);
	EXPECT_STR(str_text(&out), "ATTR\nAUXTRACE\nSAMPLE event 0 ip 0x401000 tid 101 time 2\n");
	source_close(source);
	put_at(r, aux + 8, UINT64_MAX, 8);
	EXPECT(source_open_stream(&source, bytes_descriptor(r->bytes, r->len), "stream", NULL) == 0);
	EXPECT(describe(source, &out, &err) < 0);
	EXPECT(strstr(err.text, "stream: the stream ends at offset"));
	source_close(source);
	str_fini(&out);
	free(r);
}

TEST("a pipe shows before its first record whether it has a trace, and has the payload until the next record")
{
	struct recording *r = recording_new(false);
	struct source *source;
	struct record record;
	begin_stream(r);
	put_header_attr(r, 0, 10);
	size_t cut = r->len;
	end_record(r, begin_record(r, RECORD_AUXTRACE_INFO, 0));
	put_auxtrace(r, 24);
	put_bytes(r, "a trace of what happened", 24);
	put_sample(r, 10, 0x401000, 2);
	EXPECT(source_open_stream(&source, bytes_descriptor(r->bytes, r->len), "stream", NULL) == 0);
	EXPECT(source->traced);
	for (int i = 0; i < 3; i++)
		EXPECT_INT(source_next(source, &record, NULL), 1);
	const uint8_t *bytes = source_payload(source, &record, 24);
	EXPECT(bytes && memcmp(bytes, "a trace of what happened", 24) == 0 && !source_payload(source, &record, 25));
	EXPECT_INT(source_next(source, &record, NULL), 1);
	EXPECT(!source_payload(source, &record, 24));
	source_close(source);
	for (size_t len = cut; len < cut + 8; len++) { /* ends before the description */
		EXPECT(source_open_stream(&source, bytes_descriptor(r->bytes, len), "stream", NULL) == 0);
		EXPECT(!source->traced);
		source_close(source);
	}
	free(r);
}

TEST("a recording in file format is rejected from a pipe, with a hint")
{
	struct recording *r = recording_new(false);
	struct source *source;
	struct error err = { 0 };
	make_file(r);
	EXPECT(source_open_stream(&source, bytes_descriptor(r->bytes, r->len), "stream", &err) < 0);
	EXPECT_INT(err.kind, ERROR_UNSUPPORTED);
	EXPECT(err.hint[0] != 0);
	free(r);
}

TEST("a folder is read completely: its main file, then its numbered parts")
{
	static const char *const names[] = { "data", "data.0", "data.10", "data.2", "data.x", "data.1", NULL };
	char folder[] = "/tmp/source_test.XXXXXX";
	struct recording *r = recording_new(false);
	struct source *source;
	struct record record;
	uint64_t seen = 0, count = 0;
	EXPECT(mkdtemp(folder) != NULL);
	begin_file(r, 1);
	size_t data = r->len;
	put_sample(r, 10, 0x1, 1);
	end_data(r, data);
	write_file(folder, "data", r->bytes, r->len);
	for (size_t i = 1; i <= 3; i++) {
		r->len = 0;
		put_sample(r, 10, 1u << i, 1);
		write_file(folder, names[i], r->bytes, r->len);
	}
	write_file(folder, "data.x", "junk", 4);
	write_file(folder, "data.1", "", 0);
	EXPECT(source_open(&source, folder, NULL, NULL) == 0);
	EXPECT(source->header.directory);
	EXPECT_INT(source->counters.bytes_total, 4 * 40);
	while (source_next(source, &record, NULL) == 1) {
		uint64_t ip = load_u64(record.body + 8);
		EXPECT(count++ > 0 || ip == 1);
		seen |= ip;
	}
	EXPECT_INT(count, 4);
	EXPECT_INT(seen, 0xf);
	EXPECT_INT(source->counters.bytes_read, 4 * 40);
	source_close(source);
	remove_folder(folder, names);
	free(r);
}

TEST("large parts of a folder are read in turns of two megabytes")
{
	static const char *const names[] = { "data", "data.0", "data.1", NULL };
	char folder[] = "/tmp/source_test.XXXXXX";
	struct recording *r = recording_new(false);
	struct source *source;
	struct record record;
	unsigned turns = 0;
	uint64_t last = 0, count = 0, each = ((5u << 20) + 39) / 40;
	EXPECT(mkdtemp(folder) != NULL);
	begin_file(r, 1);
	size_t data = r->len;
	put_sample(r, 10, 0, 1);
	end_data(r, data);
	write_file(folder, "data", r->bytes, r->len);
	for (uint64_t part = 1; part <= 2; part++) {
		uint8_t *bytes = malloc(each * 40);
		r->len = 0;
		put_sample(r, 10, part, 1);
		for (uint64_t i = 0; i < each; i++)
			memcpy(bytes + i * 40, r->bytes, 40);
		write_file(folder, names[part], bytes, each * 40);
		free(bytes);
	}
	EXPECT(source_open(&source, folder, NULL, NULL) == 0);
	while (source_next(source, &record, NULL) == 1) {
		uint64_t part = load_u64(record.body + 8);
		turns += part != last;
		last = part;
		count++;
		source_release(source, source_mark(source));
	}
	EXPECT_INT(turns, 6);
	EXPECT_INT(count, 2 * each + 1);
	source_close(source);
	remove_folder(folder, names);
	free(r);
}

TEST("a file by its path, a FIFO and a missing file")
{
	static const char *const names[] = { "file", "fifo", "empty", NULL };
	char folder[] = "/tmp/source_test.XXXXXX", path[64];
	struct recording *r = recording_new(false);
	struct source *source;
	struct error err = { 0 };
	struct str out = { 0 };
	EXPECT(mkdtemp(folder) != NULL);
	make_file(r);
	write_file(folder, "file", r->bytes, r->len);
	snprintf(path, sizeof path, "%s/file", folder);
	EXPECT(source_open(&source, path, NULL, NULL) == 0);
	EXPECT(source->header.captured != 0);
	EXPECT_STR(source->path, path);
	EXPECT_INT(describe(source, &out, NULL), 0);
	EXPECT_STR(str_text(&out), the_data);
	source_close(source);

	snprintf(path, sizeof path, "%s/fifo", folder);
	EXPECT(mkfifo(path, 0600) == 0);
	make_stream(r);
	int fd = open(path, O_RDWR); /* both ends: no open blocks, and the data fits the pipe */
	EXPECT(write(fd, r->bytes, r->len) == (ssize_t)r->len);
	EXPECT(source_open(&source, path, NULL, &err) == 0);
	close(fd);
	str_clear(&out);
	EXPECT_INT(describe(source, &out, NULL), 0);
	EXPECT(strstr(str_text(&out), the_data));
	source_close(source);

	write_file(folder, "empty", "", 0);
	snprintf(path, sizeof path, "%s/empty", folder);
	EXPECT(source_open(&source, path, NULL, &err) < 0);
	EXPECT(strstr(err.text, "the file is empty"));
	remove_folder(folder, names);
	EXPECT(source_open(&source, path, NULL, &err) < 0);
	EXPECT_INT(err.kind, ERROR_SYSTEM);
	EXPECT(strstr(err.text, "failed to open") && err.hint[0]);
	str_fini(&out);
	free(r);
}

TEST("features have the names that perf prints")
{
	EXPECT_STR(feature_name(FEATURE_HOSTNAME), "HOSTNAME");
	EXPECT_STR(feature_name(FEATURE_PMU_CAPS), "PMU_CAPS");
	EXPECT(!feature_name(0) && !feature_name(FEATURE_COUNT));
}

TEST("bits of features that a machine of the other byte order wrote as words of 4 or 8 bytes are the same")
{
	const uint64_t bits = 1ull << FEATURE_HOSTNAME | 1ull << FEATURE_ARCH | 1ull << 33;
	for (int swap = 0; swap < 2; swap++) {
		for (int narrow = 0; narrow <= swap; narrow++) {
			struct recording *r = recording_new(swap);
			struct source *source = NULL;
			begin_file(r, 1);
			size_t table = begin_features(r, bits);
			put_at(r, 72, narrow ? bits >> 32 | bits << 32 : bits, 8);
			for (int i = 0; i < 3; i++) {
				size_t at = r->len;
				put_string(r, i == 0 ? "host" : "arch");
				end_feature(r, &table, at);
			}
			EXPECT(source_open_memory(&source, r->bytes, r->len, NULL) == 0);
			EXPECT_STR(header_string(&source->header, FEATURE_HOSTNAME), "host");
			EXPECT_STR(header_string(&source->header, FEATURE_ARCH), "arch");
			EXPECT(source->header.features[0] == bits);
			source_close(source);
			free(r);
		}
	}
}
