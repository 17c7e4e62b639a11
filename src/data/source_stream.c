/* Records read from a descriptor that cannot seek. */
#include <errno.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/source_internal.h"

#define READ_BYTES ((size_t)64 << 10)

struct stream_source {
	struct source base;
	int fd;
	char *path;
	struct chain chain;
	uint64_t offset;      /* stream offset of the first unconsumed byte */
	struct inflater inflater;
	bool inflating, eof, finished;
	uint8_t *payload;     /* of the last AUXTRACE record */
};

static ssize_t stream_read(struct stream_source *stream, void *room, size_t size, struct error *err)
{
	for (;;) {
		ssize_t n = read(stream->fd, room, size);
		if (n >= 0)
			return n;
		if (errno == EAGAIN)
			poll(&(struct pollfd){ .fd = stream->fd, .events = POLLIN }, 1, -1);
		else if (errno != EINTR)
			return error_system(err, "%s: reading at offset %llu", stream->path, (unsigned long long)stream->offset);
	}
}

/* Buffers n bytes: 1; 0 if the stream ends before; < 0: *err. */
static int stream_need(struct stream_source *stream, size_t n, struct error *err)
{
	while (chain_left(&stream->chain) < n) {
		size_t room;
		if (stream->eof)
			return 0;
		uint8_t *at = chain_room(&stream->chain, READ_BYTES, &room);
		ssize_t got = stream_read(stream, at, room, err);
		if (got < 0)
			return -1;
		stream->eof = got == 0;
		chain_filled(&stream->chain, (size_t)got);
	}
	return 1;
}

static int stream_cut(struct stream_source *stream, uint64_t expected, struct error *err)
{
	size_t left = chain_left(&stream->chain);
	return error_set(err, ERROR_FORMAT, "%s: the stream ends at offset %llu, where %llu more bytes were expected",
			 stream->path, (unsigned long long)(stream->offset + left), (unsigned long long)(expected - left));
}

static void stream_advance(struct stream_source *stream, uint64_t n)
{
	stream->offset += n;
	stream->base.mark += n;
	stream->base.counters.bytes_read += n;
}

/* Consumes the next size bytes: stores them in *keep (allocated) unless it is NULL, otherwise skips them. */
static int stream_payload(struct stream_source *stream, uint64_t size, uint8_t **keep, struct error *err)
{
	uint8_t scratch[16 << 10];
	uint64_t done = 0;
	size_t capacity = 0;
	while (done < size) {
		size_t n = size - done < sizeof scratch ? (size_t)(size - done) : sizeof scratch;
		size_t ready = chain_left(&stream->chain);
		if (ready) {
			n = ready < n ? ready : n;
			memcpy(scratch, chain_at(&stream->chain), n);
			chain_take(&stream->chain, n, stream->base.mark);
		} else {
			ssize_t got = stream_read(stream, scratch, n, err);
			if (got < 0)
				return -1;
			if (got == 0)
				return stream_cut(stream, size - done, err);
			n = (size_t)got;
		}
		if (keep && done + n > capacity) {
			capacity = (done + n) * 2;
			*keep = memory_resize(*keep, capacity, 1);
		}
		if (keep)
			memcpy(*keep + done, scratch, n);
		done += n;
		stream_advance(stream, n);
	}
	return 0;
}

static int stream_tracing_data(struct stream_source *stream, uint64_t size, struct error *err)
{
	struct header *header = &stream->base.header;
	CLEANUP_FREE uint8_t *bytes = memory_alloc(1);
	if (stream_payload(stream, size, &bytes, err) < 0)
		return -1;
	header->features[0] |= 1u << FEATURE_TRACING_DATA;
	header->feature_data[FEATURE_TRACING_DATA] = (struct span){ arena_copy(&header->arena, bytes, size), size };
	return 0;
}

/* 1: deliver, 0: skip, < 0: *err. */
static int stream_special(struct stream_source *stream, struct record *record, struct error *err)
{
	struct source *source = &stream->base;
	uint64_t payload, offset = record->offset + STREAM_HEADER_BYTES;
	if (source->header.swapped && !record_make_native(record, &source->header.evlist)) {
		source->counters.bad_records++;
		return 0;
	}
	if (record->type < RECORD_USER_TYPE_START) {
		source_note_type(source, record->type);
		return 1;
	}
	if (!record_payload_size(record, &payload))
		return error_set(err, ERROR_FORMAT, "%s: the record at offset %llu does not state how many bytes follow it",
				 stream->path, (unsigned long long)offset);
	if (record->type == RECORD_HEADER_TRACING_DATA) {
		if (stream_tracing_data(stream, payload, err) < 0)
			return -1;
	} else if (stream_payload(stream, payload, record->type == RECORD_AUXTRACE ? &stream->payload : NULL, err) < 0) {
		return -1;
	}
	source->payload = (struct span){ stream->payload, record->type == RECORD_AUXTRACE ? payload : 0 };
	if (record->type == RECORD_COMPRESSED || record->type == RECORD_COMPRESSED2) {
		if (inflater_begin(&stream->inflater, record, offset, stream->path, err) < 0)
			return -1;
		stream->inflating = true;
	}
	source_note_record(source, record);
	return 1;
}

static int stream_end(struct stream_source *stream, struct error *err)
{
	if (chain_left(&stream->chain))
		return stream_cut(stream, RECORD_HEADER_BYTES, err);
	return inflater_end(&stream->inflater, stream->path, err);
}

static int stream_record(struct stream_source *stream, struct record *record, struct error *err)
{
	struct source *source = &stream->base;
	bool swapped = source->header.swapped;
	for (;;) {
		int result;
		if (stream->inflating) {
			result = inflater_next(&stream->inflater, source, stream->path, record, err);
			if (result)
				return result;
			stream->inflating = false;
		}
		result = stream_need(stream, RECORD_HEADER_BYTES, err);
		if (result <= 0)
			return result < 0 ? result : stream_end(stream, err);
		uint32_t size = record_take_header(record, chain_at(&stream->chain), swapped);
		if (size < RECORD_HEADER_BYTES)
			return source_bad_size(stream->path, stream->offset, size, chain_left(&stream->chain), err);
		result = stream_need(stream, size, err);
		if (result <= 0)
			return result < 0 ? result : stream_cut(stream, size, err);
		record->body = chain_at(&stream->chain) + RECORD_HEADER_BYTES;
		record->offset = stream->offset - STREAM_HEADER_BYTES;
		stream_advance(stream, size);
		chain_take(&stream->chain, size, source->mark);
		if (!swapped && record_type_is_kernels(record->type))
			return 1;
		result = stream_special(stream, record, err);
		if (result)
			return result;
	}
}

static int stream_next(struct source *source, struct record *record, struct error *err)
{
	struct stream_source *stream = (struct stream_source *)source;
	if (stream->finished)
		return 0;
	free(stream->payload);
	stream->payload = NULL;
	source->payload = (struct span){ 0 };
	int result = stream_record(stream, record, err);
	stream->finished = result <= 0;
	return result;
}

static void stream_release(struct source *source, uint64_t mark)
{
	struct stream_source *stream = (struct stream_source *)source;
	chain_release(&stream->chain, mark);
	chain_release(&stream->inflater.chain, mark);
}

static void stream_close(struct source *source)
{
	struct stream_source *stream = (struct stream_source *)source;
	chain_fini(&stream->chain);
	inflater_fini(&stream->inflater);
	header_fini(&source->header);
	free(stream->payload);
	if (stream->fd >= 0)
		close(stream->fd);
	free(stream->path);
	free(stream);
}

static const struct source_ops stream_ops = { stream_next, stream_release, stream_close };

static int stream_begin(struct stream_source *stream, struct error *err)
{
	struct header *header = &stream->base.header;
	if (stream_need(stream, STREAM_HEADER_BYTES, err) < 0)
		return -1;
	size_t left = chain_left(&stream->chain);
	if (!left)
		return error_set(err, ERROR_FORMAT, "%s: the stream ends before its header of %d bytes", stream->path,
				 STREAM_HEADER_BYTES);
	int container = container_detect(chain_at(&stream->chain), left, &header->swapped, &header->v1, stream->path, err);
	if (container < 0)
		return -1;
	if (container == CONTAINER_FILE) {
		error_set(err, ERROR_UNSUPPORTED, "%s: a recording in the form of a file came through a pipe", stream->path);
		return error_hint(err, "its parts refer to each other by place: read it with -i FILE, or record with -o -");
	}
	chain_take(&stream->chain, STREAM_HEADER_BYTES, 0);
	stream->offset = STREAM_HEADER_BYTES;
	return 0;
}

/* Looks ahead, as a reader must know before the first record. */
static int stream_find_trace(struct stream_source *stream, struct error *err)
{
	size_t want = 0;
	int found = -1;
	for (int result = 1; result > 0 && found < 0;) {
		result = stream_need(stream, want, err);
		if (result < 0)
			return -1;
		if (result > 0)
			found = records_find_trace(want ? chain_at(&stream->chain) : NULL, want ? chain_left(&stream->chain) : 0,
				stream->base.header.swapped, &want);
	}
	stream->base.traced = found > 0;
	return 0;
}

int source_open_stream(struct source **source, int fd, const char *path, struct error *err)
{
	struct stream_source *stream = memory_zero(1, sizeof *stream);
	struct stat st;
	stream->base.ops = &stream_ops;
	stream->fd = fd;
	stream->path = memory_string(path);
	stream->base.path = stream->path;
	stream->base.header.pipe = true;
	stream->base.header.data_offset = STREAM_HEADER_BYTES;
	if (fstat(fd, &st) == 0)
		stream->base.header.captured = st.st_mtime;
	if (stream_begin(stream, err) < 0 || stream_find_trace(stream, err) < 0) {
		stream_close(&stream->base);
		return -1;
	}
	*source = &stream->base;
	return 0;
}
