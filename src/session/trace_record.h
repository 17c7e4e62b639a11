/* A record of a sample that is made word by word: a header, a body of u64s, and the note behind it. For the files of session/trace*.c.
 * What was just written word by word is slow to copy, so records of a known size are made where they stay. */
#pragma once
#include "session/trace_internal.h"

enum { TRACE_RECORD_WORDS = 8032 };

struct trace_record {
	uint64_t *words;
	size_t count;            /* with the header: 1 at first */
	bool stays;              /* words are where the record stays, with room for the note */
};

/* An empty record that has `words` words at last, header included. */
struct trace_record trace_record_of(struct trace *trace, size_t words);

static inline void trace_put(struct trace_record *record, uint64_t word)
{
	record->words[record->count++] = word;
}

/* Two u32 in the order of their bytes. */
uint64_t trace_pair(uint32_t low, uint32_t high);
void trace_put_header(struct trace_record *record, uint32_t type, uint16_t misc);
/* Adds the complete record to the batch. Returns its note, which is zeroed, for the caller to fill. */
struct trace_note *trace_append(struct trace *trace, const struct trace_record *record, uint64_t time, struct entries *batch);
/* TSC → ns; UINT64_MAX without times. */
uint64_t trace_time(const struct trace *trace, uint64_t ticks);
/* The call chain of ip in the queue's thread, cut so that `others` words have room behind it. */
void trace_put_chain(struct trace_record *record, struct trace_queue *queue, uint64_t ip, size_t others);
/* The last branches, newest first, behind their number and the index that hardware would give. */
void trace_put_branches(struct trace_record *record, struct trace_queue *queue);
