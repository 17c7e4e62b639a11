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

/* Pads to 8 bytes, adds a zeroed trailer, sets the size. */
static inline void record_close(struct writer *out, size_t at, size_t trailer)
{
	writer_pad(out, '\0', (8 - (out->len - at) % 8) % 8 + trailer);
	uint16_t size = (uint16_t)(out->len - at);
	memcpy(out->buffer + at + 6, &size, sizeof size);
}

/* The same with the trailer of an event's records: the fields of sample_id in perf_event_open(2), in this order. */
static inline void record_close_with(struct writer *out, size_t at, const struct attr *attr, const struct sample *values)
{
	uint64_t type = attr_flag(attr, ATTR_SAMPLE_ID_ALL) ? attr->sample_type : 0;
	writer_pad(out, '\0', (8 - (out->len - at) % 8) % 8);
	if (type & SAMPLE_TID) {
		out_u32(out, values->pid);
		out_u32(out, values->tid);
	}
	if (type & SAMPLE_TIME)
		out_u64(out, values->time);
	if (type & SAMPLE_ID)
		out_u64(out, values->id);
	if (type & SAMPLE_STREAM_ID)
		out_u64(out, values->stream_id);
	if (type & SAMPLE_CPU) {
		out_u32(out, values->cpu);
		out_u32(out, 0);
	}
	if (type & SAMPLE_IDENTIFIER)
		out_u64(out, values->id);
	record_close(out, at, 0);
}
