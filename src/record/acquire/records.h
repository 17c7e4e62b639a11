/* Reads records in memory, in native byte order, one after the other. */
#pragma once
#include <stdbool.h>
#include <string.h>

#include "abi/record.h"
#include "base/bytes.h"

enum { RECORD_HEADER_SIZE = 8 };

static inline uint16_t record_size_at(const uint8_t *bytes)
{
	uint16_t size;
	memcpy(&size, bytes + 6, sizeof size);
	return size;
}

/* size: at least RECORD_HEADER_SIZE. The body is borrowed. */
static inline struct record record_of(const uint8_t *bytes, uint32_t size)
{
	struct record record = { .type = load_u32(bytes), .body = bytes + RECORD_HEADER_SIZE, .body_len = size - RECORD_HEADER_SIZE };
	memcpy(&record.misc, bytes + 4, sizeof record.misc);
	return record;
}

/* Removes the first record from the span; false at its end, or if the rest is no complete record. */
static inline bool records_next(struct span *records, struct record *record)
{
	uint16_t size = records->len >= RECORD_HEADER_SIZE ? record_size_at(records->data) : 0;
	if (size < RECORD_HEADER_SIZE || size > records->len)
		return false;
	*record = record_of(records->data, size);
	*records = (struct span){ records->data + size, records->len - size };
	return true;
}
