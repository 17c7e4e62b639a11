/* A zstd stream that is split into COMPRESSED records, and the records inside it, which may be split anywhere. */
#pragma once
#include <stdbool.h>

#include "base/error.h"
#include "data/chain.h"

struct ZSTD_DCtx_s;

struct inflater {
	struct ZSTD_DCtx_s *zstd; /* NULL until the first piece */
	uint8_t *input;           /* the current piece: a copy, as the consumer may release its record */
	size_t input_len, input_at, input_capacity;
	bool pending;             /* more output may be available */
	struct chain chain;
	uint64_t offset;          /* file offset of the piece's record */
	uint64_t skip;            /* bytes of payload after the last record, which are skipped */
};

void inflater_fini(struct inflater *inflater); /* accepts a zeroed inflater */
/* Sets the next piece; the one before must be consumed. */
int inflater_feed(struct inflater *inflater, const uint8_t *piece, size_t len, uint64_t offset, struct error *err);
/* Appends decompressed bytes to the chain: 1, or 0 if the piece is consumed. */
int inflater_more(struct inflater *inflater, const char *path, struct error *err);
