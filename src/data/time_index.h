/* The index of a recording's samples by time: a part of a file behind its last feature, which other readers do not look at. Readers that
 * need the samples of a range of time skip the others; all other records are read. Layout: docs/recordings.md. */
#pragma once
#include "base/bytes.h"
#include "base/error.h"
#include "base/vec.h"
#include "base/writer.h"

/* Records that are consecutive in the file. */
struct time_chunk {
	uint64_t offset, end;        /* in the file */
	uint64_t first_ns, last_ns;  /* of its samples; first > last: it has none; 0 to UINT64_MAX: one of them has no time */
	uint64_t others, others_end; /* indexes in time_index.others */
};

struct time_index {
	VEC(struct time_chunk) chunks; /* in the order of the file, without gaps */
	VEC(uint32_t) others;        /* records that are not samples: offsets from the start of their chunk, rising */
};

void time_index_fini(struct time_index *index); /* accepts a zeroed index */
/* Adds the next record of the file, with what follows it. time: of a sample; UINT64_MAX: it has none. */
void time_index_add(struct time_index *index, uint64_t offset, uint64_t size, bool sample, uint64_t time);
/* The times of the first and the last sample. False: the recording has no sample, or a sample without a time. */
bool time_index_bounds(const struct time_index *index, uint64_t *first_ns, uint64_t *last_ns);
/* Appends the index as it is stored, which ends in a footer. at: its offset in the file. */
void time_index_write(const struct time_index *index, uint64_t at, struct writer *out);
/* Appends it to a finished file. */
int time_index_append(const struct time_index *index, int fd, struct error *err);
/* Reads the index at the end of a file whose records are in [data, data_end). False: the file has none, or it does not fit the records. */
bool time_index_read(struct time_index *index, struct span file, uint64_t data, uint64_t data_end);
