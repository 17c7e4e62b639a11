#include "elf/inflate.h"

#include <libdeflate.h>
#include <lzma.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "base/memory.h"

enum compression compression_of(struct span bytes)
{
	static const struct {
		enum compression kind;
		uint8_t len, magic[6];
	} magics[] = {
		{ COMPRESSION_GZIP, 2, { 0x1f, 0x8b } },
		{ COMPRESSION_XZ, 6, { 0xfd, '7', 'z', 'X', 'Z', 0 } },
		{ COMPRESSION_ZSTD, 4, { 0x28, 0xb5, 0x2f, 0xfd } },
	};
	for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
		if (bytes.len >= magics[i].len && memcmp(bytes.data, magics[i].magic, magics[i].len) == 0)
			return magics[i].kind;
	return COMPRESSION_NONE;
}

/* The output buffer: grows by doubling up to a limit. */
struct output {
	uint8_t *data;
	size_t len, capacity, limit;
};

static int output_grow(struct output *out, struct error *err)
{
	if (out->len < out->capacity)
		return 0;
	if (out->capacity >= out->limit)
		return error_set(err, ERROR_LIMIT, "compressed data inflates to more than %zu bytes", out->limit);
	size_t capacity = out->capacity ? out->capacity * 2 : 1 << 16;
	out->capacity = capacity < out->limit ? capacity : out->limit;
	out->data = memory_resize(out->data, out->capacity, 1);
	return 0;
}

static int inflate_zlib(struct span in, int window_bits, struct output *out, struct error *err)
{
	z_stream z = { .next_in = (Bytef *)in.data };
	if (inflateInit2(&z, window_bits) != Z_OK)
		memory_exhausted(0);
	size_t left = in.len;
	int state = Z_OK, result = 0;
	while (state == Z_OK && (result = output_grow(out, err)) == 0) {
		uInt chunk = left < 1u << 30 ? (uInt)left : 1u << 30;
		uInt room = out->capacity - out->len < 1u << 30 ? (uInt)(out->capacity - out->len) : 1u << 30;
		z.avail_in = chunk;
		z.next_out = out->data + out->len;
		z.avail_out = room;
		state = inflate(&z, Z_NO_FLUSH);
		left -= chunk - z.avail_in;
		out->len += room - z.avail_out;
	}
	inflateEnd(&z);
	if (state == Z_MEM_ERROR)
		memory_exhausted(0);
	if (result == 0 && state != Z_STREAM_END)
		return error_set(err, ERROR_FORMAT, "damaged zlib stream");
	return result;
}

static int inflate_xz(struct span in, struct output *out, struct error *err)
{
	lzma_stream s = LZMA_STREAM_INIT;
	if (lzma_stream_decoder(&s, INFLATE_LIMIT, LZMA_CONCATENATED) != LZMA_OK)
		memory_exhausted(0);
	s.next_in = in.data;
	s.avail_in = in.len;
	lzma_ret state = LZMA_OK;
	int result = 0;
	while (state == LZMA_OK && (result = output_grow(out, err)) == 0) {
		size_t room = out->capacity - out->len;
		s.next_out = out->data + out->len;
		s.avail_out = room;
		state = lzma_code(&s, LZMA_FINISH);
		out->len += room - s.avail_out;
	}
	lzma_end(&s);
	if (result == 0 && state != LZMA_STREAM_END)
		return error_set(err, ERROR_FORMAT, "damaged xz stream");
	return result;
}

static int inflate_zstd(struct span in, struct output *out, struct error *err)
{
	ZSTD_DStream *s = ZSTD_createDStream();
	if (!s)
		memory_exhausted(0);
	ZSTD_inBuffer input = { .src = in.data, .size = in.len };
	size_t state = 1;
	int result = 0;
	while ((input.pos < input.size || state) && !ZSTD_isError(state) && (result = output_grow(out, err)) == 0) {
		ZSTD_outBuffer output = { .dst = out->data + out->len, .size = out->capacity - out->len };
		size_t before = input.pos;
		state = ZSTD_decompressStream(s, &output, &input);
		out->len += output.pos;
		if (!output.pos && input.pos == before)
			break;
	}
	ZSTD_freeDStream(s);
	if (result == 0 && state)
		return error_set(err, ERROR_FORMAT, "damaged zstd stream");
	return result;
}

static int inflate_into(enum compression kind, struct span in, struct output *out, struct error *err)
{
	switch (kind) {
	case COMPRESSION_ZLIB:
		return inflate_zlib(in, MAX_WBITS, out, err);
	case COMPRESSION_GZIP:
		return inflate_zlib(in, MAX_WBITS + 16, out, err);
	case COMPRESSION_XZ:
		return inflate_xz(in, out, err);
	case COMPRESSION_ZSTD:
		return inflate_zstd(in, out, err);
	default:
		return error_set(err, ERROR_UNSUPPORTED, "unknown compression");
	}
}

bool inflate_plausible(uint64_t stored, uint64_t size)
{
	if (size > INFLATE_LIMIT)
		return size / INFLATE_RATIO <= stored;
	return size <= INFLATE_FREE || size / INFLATE_RATIO_MOST <= stored;
}

/* The plausible size of the output, for formats that do not store it. */
static size_t most_of(uint64_t stored)
{
	if (stored >= INFLATE_LIMIT / INFLATE_RATIO_MOST)
		return INFLATE_LIMIT;
	return stored * INFLATE_RATIO_MOST > INFLATE_FREE ? stored * INFLATE_RATIO_MOST : INFLATE_FREE;
}

int inflate_all(enum compression kind, struct span in, size_t most, uint8_t **out, size_t *size, struct error *err)
{
	struct output o = { .limit = most_of(in.len) };
	o.limit = o.limit < most ? o.limit : most;
	*out = NULL;
	*size = 0;
	if (inflate_into(kind, in, &o, err) < 0) {
		free(o.data);
		return -1;
	}
	*out = memory_resize(o.data, o.len, 1);
	*size = o.len;
	return 0;
}

enum { DEFLATE_RATIO_MAX = 1032 }; /* limit of the format: 258 bytes per two bits */

/* Inflates in one call, for speed; pages of a size that is only claimed are never touched. */
static int inflate_zlib_exactly(struct span in, uint64_t size, uint8_t **out, struct error *err)
{
	if (size / DEFLATE_RATIO_MAX > in.len)
		return error_set(err, ERROR_FORMAT, "compressed data is not of the size it claims");
	struct libdeflate_decompressor *whole = libdeflate_alloc_decompressor();
	if (!whole)
		memory_exhausted(0);
	*out = memory_large(size + 1);
	enum libdeflate_result result = libdeflate_zlib_decompress(whole, in.data, in.len, *out, size, NULL);
	libdeflate_free_decompressor(whole);
	if (result == LIBDEFLATE_SUCCESS)
		return 0;
	free(*out);
	*out = NULL;
	return error_set(err, ERROR_FORMAT, result == LIBDEFLATE_BAD_DATA ? "damaged zlib stream" :
		"compressed data is not of the size it claims");
}

int inflate_exactly(enum compression kind, struct span in, uint64_t size, uint8_t **out, struct error *err)
{
	*out = NULL;
	if (!inflate_plausible(in.len, size))
		return error_set(err, ERROR_LIMIT, "compressed data claims %llu bytes", (unsigned long long)size);
	if (kind == COMPRESSION_ZLIB)
		return inflate_zlib_exactly(in, size, out, err);
	/* one byte more, so that a longer stream is detected */
	struct output o = { .limit = size + 1 };
	if (inflate_into(kind, in, &o, err) < 0 || o.len != size) {
		free(o.data);
		return o.len == size ? -1 : error_set(err, ERROR_FORMAT, "compressed data is not of the size it claims");
	}
	*out = o.data;
	return 0;
}
