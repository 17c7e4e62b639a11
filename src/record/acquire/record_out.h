/* Makes records in memory, field by field. Used by record/ and rewrite/. */
#pragma once
#include <stdint.h>
#include <string.h>

#include "abi/attr.h"
#include "abi/record.h"
#include "abi/sample.h"
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

/* Text of a header feature: a size that is a multiple of 64, the text, zeros. */
static inline void out_feature_text(struct writer *out, const char *text)
{
	enum { TEXT_ALIGN = 64 };
	size_t length = strlen(text) + 1, padded = (length + TEXT_ALIGN - 1) / TEXT_ALIGN * TEXT_ALIGN;
	out_u32(out, (uint32_t)padded);
	writer_add(out, text, length);
	writer_pad(out, '\0', padded - length);
}

/* Pads to 8 bytes, adds a zeroed trailer, sets the size. */
static inline void record_close(struct writer *out, size_t at, size_t trailer)
{
	writer_pad(out, '\0', (8 - (out->len - at) % 8) % 8 + trailer);
	uint16_t size = (uint16_t)(out->len - at);
	memcpy(out->buffer + at + 6, &size, sizeof size);
}

/* The same with the trailer of an event's records: the fields of sample_id in perf_event_open(2). */
static inline void record_close_with(struct writer *out, size_t at, const struct attr *attr, const struct sample *values)
{
	uint64_t type = attr_flag(attr, ATTR_SAMPLE_ID_ALL) ? attr->sample_type : 0;
	writer_pad(out, '\0', (8 - (out->len - at) % 8) % 8);
#define HEAD(NAME, member)                            \
	if (type & SAMPLE_##NAME)                     \
		out_u64(out, values->member);
#define HEAD_PAIR(NAME, first, second)                \
	if (type & SAMPLE_##NAME) {                   \
		out_u32(out, values->first);          \
		out_u32(out, values->second);         \
	}
	SAMPLE_TRAILER(HEAD, HEAD_PAIR)
#undef HEAD
#undef HEAD_PAIR
	record_close(out, at, 0);
}
