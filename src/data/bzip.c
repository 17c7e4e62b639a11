#include "data/bzip.h"

#include <bzlib.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/pool.h"

/* The block size of the highest level; output may be slightly longer (bzip2's manual). */
enum { LEVEL = 9, BLOCK_SIZE = 900000 - 20, PACKED_SIZE = BLOCK_SIZE + BLOCK_SIZE / 100 + 600, CHUNK = 1 << 16 };

struct bzip_block {
	char *plain, *packed;
	size_t len;
	unsigned packed_len;
};

void bzip_writer_open(struct bzip_writer *w, int fd, struct pool *pool)
{
	*w = (struct bzip_writer){ .fd = fd, .pool = pool, .count = pool_workers(pool) * (size_t)2 };
	w->blocks = memory_zero(w->count, sizeof *w->blocks);
}

static void block_pack(void *context, size_t job, __attribute__((unused)) unsigned worker)
{
	struct bzip_writer *w = context;
	struct bzip_block *block = &w->blocks[job];
	block->packed = block->packed ? block->packed : memory_alloc(PACKED_SIZE);
	block->packed_len = PACKED_SIZE;
	if (BZ2_bzBuffToBuffCompress(block->packed, &block->packed_len, block->plain, (unsigned)block->len, LEVEL, 0, 0) != BZ_OK)
		block->packed_len = 0;
}

static int write_all(int fd, const char *bytes, size_t size, struct error *err)
{
	while (size) {
		ssize_t n = write(fd, bytes, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return error_system(err, "cannot write the archive");
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

/* Compresses and writes the filled blocks. */
static int flush(struct bzip_writer *w, struct error *err)
{
	size_t used = w->at < w->count && w->blocks[w->at].len ? w->at + 1 : w->at;
	pool_run(w->pool, used, block_pack, w);
	for (size_t i = 0; i < used; i++) {
		struct bzip_block *block = &w->blocks[i];
		if (!block->packed_len)
			return error_set(err, ERROR_LIMIT, "bzip2 fails");
		if (write_all(w->fd, block->packed, block->packed_len, err) < 0)
			return -1;
		block->len = 0;
	}
	w->at = 0;
	return 0;
}

int bzip_write(struct bzip_writer *w, const void *bytes, size_t size, struct error *err)
{
	const char *from = bytes;
	while (size) {
		struct bzip_block *block = &w->blocks[w->at];
		size_t room = BLOCK_SIZE - block->len, part = size < room ? size : room;
		block->plain = block->plain ? block->plain : memory_alloc(BLOCK_SIZE);
		memcpy(block->plain + block->len, from, part);
		block->len += part;
		from += part;
		size -= part;
		if (block->len == BLOCK_SIZE && ++w->at == w->count && flush(w, err) < 0)
			return -1;
	}
	return 0;
}

int bzip_writer_finish(struct bzip_writer *w, struct error *err)
{
	return flush(w, err);
}

void bzip_writer_close(struct bzip_writer *w)
{
	for (size_t i = 0; w->blocks && i < w->count; i++) {
		free(w->blocks[i].plain);
		free(w->blocks[i].packed);
	}
	free(w->blocks);
	*w = (struct bzip_writer){ .fd = -1 };
}

struct bzip_reader {
	int fd;
	bool packed, ended, inside; /* inside: within a stream */
	bz_stream stream;
	char chunk[CHUNK];
	size_t at, len;
};

static int refill(struct bzip_reader *r, struct error *err)
{
	ssize_t n;
	do
		n = read(r->fd, r->chunk, sizeof r->chunk);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return error_system(err, "cannot read the archive");
	r->at = 0;
	r->len = (size_t)n;
	r->ended = n == 0;
	return 0;
}

int bzip_reader_open(struct bzip_reader **reader, int fd, struct error *err)
{
	struct bzip_reader *r = memory_zero(1, sizeof *r);
	*r = (struct bzip_reader){ .fd = fd };
	*reader = r;
	if (refill(r, err) < 0) {
		bzip_reader_close(r);
		*reader = NULL;
		return -1;
	}
	r->packed = r->len >= 4 && memcmp(r->chunk, "BZh", 3) == 0;
	return 0;
}

static ssize_t read_plain(struct bzip_reader *r, void *buffer, size_t size, struct error *err)
{
	if (r->at == r->len && !r->ended && refill(r, err) < 0)
		return -1;
	size_t part = r->len - r->at < size ? r->len - r->at : size;
	memcpy(buffer, r->chunk + r->at, part);
	r->at += part;
	return (ssize_t)part;
}

/* Starts the next stream, if there is one. */
static int stream_begin(struct bzip_reader *r, struct error *err)
{
	if (r->at == r->len && !r->ended && refill(r, err) < 0)
		return -1;
	if (r->ended)
		return 0;
	r->stream = (bz_stream){ 0 };
	if (BZ2_bzDecompressInit(&r->stream, 0, 0) != BZ_OK)
		return error_set(err, ERROR_LIMIT, "bzip2 fails");
	r->inside = true;
	return 1;
}

ssize_t bzip_read(struct bzip_reader *r, void *buffer, size_t size, struct error *err)
{
	if (!r->packed)
		return read_plain(r, buffer, size, err);
	size_t got = 0;
	while (got == 0 && size) {
		int status = r->inside ? 1 : stream_begin(r, err);
		if (status <= 0)
			return status;
		if (r->at == r->len && refill(r, err) < 0)
			return -1;
		if (r->ended)
			return error_set(err, ERROR_FORMAT, "the archive is truncated");
		r->stream.next_in = r->chunk + r->at;
		r->stream.avail_in = (unsigned)(r->len - r->at);
		r->stream.next_out = buffer;
		r->stream.avail_out = size < CHUNK ? (unsigned)size : CHUNK;
		unsigned room = r->stream.avail_out;
		int code = BZ2_bzDecompress(&r->stream);
		r->at = r->len - r->stream.avail_in;
		got = room - r->stream.avail_out;
		if (code != BZ_OK && code != BZ_STREAM_END)
			return error_set(err, ERROR_FORMAT, "the archive's compressed data is damaged");
		if (code == BZ_STREAM_END) {
			BZ2_bzDecompressEnd(&r->stream);
			r->inside = false;
		}
	}
	return (ssize_t)got;
}

void bzip_reader_close(struct bzip_reader *r)
{
	if (r && r->inside)
		BZ2_bzDecompressEnd(&r->stream);
	free(r);
}
