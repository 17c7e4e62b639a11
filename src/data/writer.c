#include "data/writer.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "data/perf_maps.h"

enum { HEADER_SIZE = 104, PIPE_HEADER_SIZE = 16, SECTION_SIZE = 16, BUFFER_SIZE = 256 * 1024, SPANS_MAX = 64 };

static const uint64_t magic = 0x32454c4946524550; /* "PERFILE2" where it is little-endian; gives the byte order */

static void add_u64(struct writer *out, uint64_t value)
{
	writer_add(out, &value, sizeof value);
}

static void add_section(struct writer *out, uint64_t offset, uint64_t size)
{
	add_u64(out, offset);
	add_u64(out, size);
}

uint32_t data_attr_size(const struct evlist *evlist)
{
	uint32_t size = ATTR_SIZE_VER8; /* as perf 6.12, whose inject expects no other in a file */
	for (size_t i = 0; i < evlist->events.count; i++) {
		uint32_t needed = attr_size_needed(&evlist->events.items[i].attr);
		size = needed > size ? needed : size;
	}
	return size;
}

/* Lays out everything before the records. data_size 0 marks an unfinished recording. */
static void layout_head(struct writer *out, const struct evlist *evlist, uint32_t attr_size, uint64_t data_size,
	const uint64_t features[4], uint64_t *data_offset)
{
	uint64_t entry = (uint64_t)attr_size + SECTION_SIZE, ids = 0;
	for (size_t i = 0; i < evlist->events.count; i++)
		ids += evlist->events.items[i].id_count;
	uint64_t attrs_at = HEADER_SIZE + ids * 8, attrs_size = entry * evlist->events.count;
	*data_offset = attrs_at + attrs_size;

	add_u64(out, magic);
	add_u64(out, HEADER_SIZE);
	add_u64(out, entry);
	add_section(out, attrs_at, attrs_size);
	add_section(out, *data_offset, data_size);
	add_section(out, 0, 0); /* event types: obsolete */
	for (int i = 0; i < 4; i++)
		add_u64(out, features ? features[i] : 0);
	for (size_t i = 0; i < evlist->events.count; i++)
		writer_add(out, evlist->events.items[i].ids, evlist->events.items[i].id_count * 8);
	uint64_t ids_at = HEADER_SIZE;
	for (size_t i = 0; i < evlist->events.count; i++) {
		const struct evsel *evsel = &evlist->events.items[i];
		struct attr attr = evsel->attr;
		uint8_t bytes[ATTR_SIZE_VER9];
		attr.size = attr_size;
		attr_encode(&attr, bytes);
		writer_add(out, bytes, attr_size);
		add_section(out, ids_at, evsel->id_count * 8);
		ids_at += evsel->id_count * 8;
	}
}

int data_writer_open(struct data_writer *writer, int fd, bool pipe, const struct evlist *evlist, struct error *err)
{
	*writer = (struct data_writer){ .fd = fd, .pipe = pipe, .attr_size = data_attr_size(evlist) };
	writer_open(&writer->out, fd, BUFFER_SIZE);
	if (pipe) {
		add_u64(&writer->out, magic);
		add_u64(&writer->out, PIPE_HEADER_SIZE);
		writer->data_bytes = PIPE_HEADER_SIZE;
		return data_writer_flush(writer, err);
	}
	layout_head(&writer->out, evlist, writer->attr_size, 0, NULL, &writer->data_offset);
	return data_writer_flush(writer, err);
}

void data_writer_fini(struct data_writer *writer)
{
	writer_fini(&writer->out);
}

void data_writer_add(struct data_writer *writer, const void *records, size_t size)
{
	writer_add(&writer->out, records, size);
	writer->data_bytes += size;
}

int data_writer_flush(struct data_writer *writer, struct error *err)
{
	if (writer_flush(&writer->out, err) == 0)
		return 0;
	if (err && err->sys == EPIPE) {
		error_set(err, ERROR_SYSTEM, "the reader of the recording has gone");
		err->sys = EPIPE;
	}
	return -1;
}

int data_writer_rewind(struct data_writer *writer, uint64_t size, struct error *err)
{
	if (data_writer_flush(writer, err) < 0)
		return -1;
	if (lseek(writer->fd, (off_t)(writer->data_offset + size), SEEK_SET) < 0)
		return error_system(err, "cannot seek in the recording");
	writer->data_bytes = size;
	return 0;
}

static int write_vector(struct data_writer *writer, struct iovec *vector, int count, struct error *err)
{
	while (count > 0) {
		ssize_t done = writev(writer->fd, vector, count);
		if (done < 0) {
			if (errno == EINTR)
				continue;
			return error_system(err, "cannot write the recording");
		}
		size_t left = (size_t)done;
		while (count > 0 && left >= vector->iov_len) {
			left -= vector->iov_len;
			vector++;
			count--;
		}
		if (count > 0) {
			vector->iov_base = (char *)vector->iov_base + left;
			vector->iov_len -= left;
		}
	}
	return 0;
}

int data_writer_add_spans(struct data_writer *writer, const struct span *spans, size_t count, struct error *err)
{
	struct iovec vector[SPANS_MAX];
	if (data_writer_flush(writer, err) < 0)
		return -1;
	for (size_t at = 0; at < count;) {
		int used = 0;
		for (; at < count && used < SPANS_MAX; at++) {
			if (!spans[at].len)
				continue;
			vector[used++] = (struct iovec){ (void *)(uintptr_t)spans[at].data, spans[at].len };
			writer->data_bytes += spans[at].len;
		}
		if (write_vector(writer, vector, used, err) < 0)
			return -1;
	}
	return 0;
}

/* The bits of the features that a header announces. */
static void announced(const struct feature_bodies *features, uint64_t bits[4])
{
	memcpy(bits, features->present, sizeof features->present);
	bits[FEATURE_PERF_MAPS / 64] &= ~((uint64_t)1 << FEATURE_PERF_MAPS % 64);
}

static bool is_announced(const uint64_t bits[4], unsigned feature)
{
	return bits[feature / 64] >> feature % 64 & 1;
}

/* The part of a file that no header feature refers to: perf's inject ends by a signal if a feature is announced that it does not know. */
static void add_perf_maps(struct writer *out, struct span body)
{
	if (!body.len)
		return;
	writer_add(out, PERF_MAPS_MAGIC, strlen(PERF_MAPS_MAGIC));
	add_u64(out, body.len);
	writer_add(out, body.data, body.len);
}

int data_writer_finish(struct data_writer *writer, const struct evlist *evlist, const struct feature_bodies *features,
	struct error *err)
{
	if (data_writer_flush(writer, err) < 0)
		return -1;
	if (writer->pipe)
		return 0;
	if (lseek(writer->fd, (off_t)(writer->data_offset + writer->data_bytes), SEEK_SET) < 0)
		return error_system(err, "cannot seek in the recording");
	uint64_t at = writer->data_offset + writer->data_bytes, bits[4];
	announced(features, bits);
	for (unsigned i = 0; i < FEATURE_COUNT; i++)
		at += is_announced(bits, i) * SECTION_SIZE;
	for (unsigned i = 0; i < FEATURE_COUNT; i++) {
		if (!is_announced(bits, i))
			continue;
		add_section(&writer->out, at, features->bodies[i].len);
		at += features->bodies[i].len;
	}
	for (unsigned i = 0; i < FEATURE_COUNT; i++)
		if (is_announced(bits, i))
			writer_add(&writer->out, features->bodies[i].data, features->bodies[i].len);
	add_perf_maps(&writer->out, features->bodies[FEATURE_PERF_MAPS]);
	if (data_writer_flush(writer, err) < 0)
		return -1;
	if (lseek(writer->fd, 0, SEEK_SET) < 0)
		return error_system(err, "cannot seek in the recording");
	uint64_t data_offset;
	uint32_t attr_size = data_attr_size(evlist);
	attr_size = attr_size < writer->attr_size ? writer->attr_size : attr_size;
	layout_head(&writer->out, evlist, attr_size, writer->data_bytes, bits, &data_offset);
	if (data_offset != writer->data_offset)
		return error_set(err, ERROR_LIMIT, "the recording's events changed while it was written");
	return data_writer_flush(writer, err);
}
