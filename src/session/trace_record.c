#include "session/trace_record.h"

#include <string.h>

enum { HEADER_BYTES = 8, NOTE_WORDS = sizeof(struct trace_note) / sizeof(uint64_t) };
_Static_assert(sizeof(struct trace_note) % sizeof(uint64_t) == 0, "words");

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

struct trace_record trace_record_of(struct trace *trace, size_t words)
{
	return (struct trace_record){ .words = arena_words(&trace->bytes, words + NOTE_WORDS), .count = 1, .stays = true };
}

struct trace_note *trace_append(struct trace *trace, const struct trace_record *record, uint64_t time, struct entries *batch)
{
	uint64_t *words = record->words;
	if (!record->stays) {
		words = arena_words(&trace->bytes, record->count + NOTE_WORDS);
		memcpy(words, record->words, record->count * sizeof *words);
	}
	struct trace_note *note = (struct trace_note *)(void *)(words + record->count);
	*note = (struct trace_note){ 0 };
	vec_push(batch, ((struct entry){ .time = time, .body = (const uint8_t *)words + HEADER_BYTES }));
	return note;
}
