/* Makes records in memory, field by field. Internal to record/. */
#pragma once
#include <stdint.h>
#include <string.h>

#include "abi/record.h"
#include "base/writer.h"

enum { RECORD_SIZE_MAX = 65528 };

static inline void out_u16(struct writer *out, uint16_t value)
{
	writer_add(out, &value, sizeof value);
}

static inline void out_u32(struct writer *out, uint32_t value)
{
	writer_add(out, &value, sizeof value);
}

static inline void out_u64(struct writer *out, uint64_t value)
{
	writer_add(out, &value, sizeof value);
}

/* Starts a record; returns its offset, for record_close. */
static inline size_t record_open(struct writer *out, uint32_t type, uint16_t misc)
{
	size_t at = out->len;
	out_u32(out, type);
	out_u16(out, misc);
	out_u16(out, 0);
	return at;
}

/* Text with its NUL, padded to 8 bytes. */
static inline void out_string(struct writer *out, const char *text)
{
	size_t length = strlen(text) + 1;
	writer_add(out, text, length);
	writer_pad(out, '\0', (8 - length % 8) % 8);
}

/* Pads to 8 bytes, adds a zeroed trailer, sets the size. */
static inline void record_close(struct writer *out, size_t at, size_t trailer)
{
	writer_pad(out, '\0', (8 - (out->len - at) % 8) % 8 + trailer);
	uint16_t size = (uint16_t)(out->len - at);
	memcpy(out->buffer + at + 6, &size, sizeof size);
}
