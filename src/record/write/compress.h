/* Compresses records to one zstd stream, divided into COMPRESSED records. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/writer.h"

struct compressor {
	struct ZSTD_CCtx_s *zstd;
	uint64_t in, out;     /* bytes so far */
};

int compressor_open(struct compressor *compressor, int level, struct error *err);
void compressor_close(struct compressor *compressor);
/* Appends COMPRESSED records with all of piece. */
int compressor_add(struct compressor *compressor, struct span piece, struct writer *out, struct error *err);
