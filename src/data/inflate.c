#include "data/inflate.h"

#include <string.h>
#include <zstd.h>

#include "base/memory.h"

void inflater_fini(struct inflater *inflater)
{
	ZSTD_freeDCtx(inflater->zstd);
	free(inflater->input);
	chain_fini(&inflater->chain);
	*inflater = (struct inflater){ 0 };
}

int inflater_feed(struct inflater *inflater, const uint8_t *piece, size_t len, uint64_t offset, struct error *err)
{
	if (!inflater->zstd && !(inflater->zstd = ZSTD_createDCtx()))
		return error_set(err, ERROR_LIMIT, "no memory for decompression");
	if (len > inflater->input_capacity) {
		inflater->input = memory_resize(inflater->input, len, 1);
		inflater->input_capacity = len;
	}
	if (len)
		memcpy(inflater->input, piece, len);
	inflater->input_len = len;
	inflater->input_at = 0;
	inflater->pending = len > 0;
	inflater->offset = offset;
	return 0;
}

int inflater_more(struct inflater *inflater, const char *path, struct error *err)
{
	while (inflater->pending) {
		ZSTD_inBuffer in = { inflater->input, inflater->input_len, inflater->input_at };
		ZSTD_outBuffer out = { 0 };
		out.dst = chain_room(&inflater->chain, 1, &out.size);
		size_t result = ZSTD_decompressStream(inflater->zstd, &out, &in);
		if (ZSTD_isError(result)) {
			inflater->pending = false;
			return error_set(err, ERROR_FORMAT, "%s: the compressed record at offset %llu does not decompress: %s",
					 path, (unsigned long long)inflater->offset, ZSTD_getErrorName(result));
		}
		inflater->input_at = in.pos;
		chain_filled(&inflater->chain, out.pos);
		/* a full output buffer: more output may need no further input */
		inflater->pending = in.pos < in.size || out.pos == out.size;
		if (out.pos)
			return 1;
	}
	return 0;
}
