#include "session/trace_record.h"

#include <string.h>

enum { HEADER_BYTES = 8 };

uint64_t trace_pair(uint32_t low, uint32_t high)
{
	uint32_t halves[2] = { low, high };
	uint64_t word;
	memcpy(&word, halves, sizeof word);
	return word;
}

void trace_put_header(struct trace_record *record, uint32_t type, uint16_t misc)
{
	struct { uint32_t type; uint16_t misc, size; } header = { type, misc, (uint16_t)(record->count * 8) };
	memcpy(record->words, &header, sizeof header);
}

void trace_append(struct trace *trace, const struct trace_record *record, const struct trace_note *note, uint64_t time,
	struct entries *batch)
{
	size_t size = record->count * 8;
	uint8_t *bytes = arena_alloc(&trace->bytes, size + sizeof *note);
	memcpy(bytes, record->words, size);
	memcpy(bytes + size, note, sizeof *note);
	vec_push(batch, ((struct entry){ .time = time, .body = bytes + HEADER_BYTES }));
}
