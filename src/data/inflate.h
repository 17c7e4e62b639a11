/* One zstd stream that is cut into COMPRESSED records, and the records inside it, which it cuts anywhere. */
#pragma once
#include <stdbool.h>

#include "base/error.h"
#include "data/chain.h"

struct ZSTD_DCtx_s;

struct inflater {
	struct ZSTD_DCtx_s *zstd; /* NULL until the first piece */
	uint8_t *input;           /* the piece at work: a copy, as the consumer may release the record it came in */
	size_t input_len, input_at, input_capacity;
	bool pending;             /* there may be more to get out */
	struct chain chain;
	uint64_t offset;          /* in the file, of the record that brought the piece */
	uint64_t skip;            /* payload that follows the last record and is nobody's */
};

void inflater_fini(struct inflater *inflater); /* also of a zeroed one */
/* The next piece; the one before must be used up. */
int inflater_feed(struct inflater *inflater, const uint8_t *piece, size_t len, uint64_t offset, struct error *err);
/* Puts more bytes into the chain: 1, or 0 where the piece is used up. */
int inflater_more(struct inflater *inflater, const char *path, struct error *err);
