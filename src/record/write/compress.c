#include "record/write/compress.h"

#include <string.h>
#include <zstd.h>

#include "record/acquire/record_out.h"

int compressor_open(struct compressor *compressor, int level, struct error *err)
{
	*compressor = (struct compressor){ .zstd = ZSTD_createCCtx() };
	if (!compressor->zstd)
		return error_set(err, ERROR_SYSTEM, "cannot start zstd");
	size_t status = ZSTD_CCtx_setParameter(compressor->zstd, ZSTD_c_compressionLevel, level);
	if (ZSTD_isError(status))
		return error_set(err, ERROR_USAGE, "zstd has no level %d: %s", level, ZSTD_getErrorName(status));
	return 0;
}

void compressor_close(struct compressor *compressor)
{
	ZSTD_freeCCtx(compressor->zstd);
	compressor->zstd = NULL;
}

int compressor_add(struct compressor *compressor, struct span piece, struct writer *out, struct error *err)
{
	enum { PAYLOAD_MAX = RECORD_SIZE_MAX - 8 };
	ZSTD_inBuffer in = { piece.data, piece.len, 0 };
	size_t left = 1;
	compressor->in += piece.len;
	while (in.pos < in.size || left) {
		char *room = writer_room(out, RECORD_SIZE_MAX);
		ZSTD_outBuffer target = { room + 8, PAYLOAD_MAX, 0 };
		left = ZSTD_compressStream2(compressor->zstd, &target, &in, ZSTD_e_flush);
		if (ZSTD_isError(left))
			return error_set(err, ERROR_SYSTEM, "zstd: %s", ZSTD_getErrorName(left));
		if (!target.pos)
			continue;
		const uint32_t type = RECORD_COMPRESSED;
		const uint16_t rest[2] = { 0, (uint16_t)(target.pos + 8) };
		memcpy(room, &type, sizeof type);
		memcpy(room + 4, rest, sizeof rest);
		writer_advance(out, target.pos + 8);
		compressor->out += target.pos + 8;
	}
	return 0;
}
