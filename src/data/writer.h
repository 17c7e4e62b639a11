/* Writes a recording: perf.data as a file (the header is patched at the end) or as a pipe. Does not interpret records or features. Source:
 * perf.data-file-format.txt. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/writer.h"
#include "data/header.h"

/* The bodies of the header features. */
struct feature_bodies {
	uint64_t present[4];                /* bit per enum feature */
	struct span bodies[FEATURE_COUNT];
};

static inline void feature_set(struct feature_bodies *features, enum feature feature, struct span body)
{
	features->present[feature / 64] |= (uint64_t)1 << (feature % 64);
	features->bodies[feature] = body;
}

struct data_writer {
	struct writer out;          /* buffered records */
	int fd;                     /* borrowed */
	bool pipe;
	uint32_t attr_size;         /* stored size of an attribute */
	uint64_t data_offset;       /* of a file: offset of the records */
	uint64_t data_bytes;        /* of records so far; of a pipe: of all output */
};

/* Starts a recording of these events. A file: writes the header (marked as unfinished), ids and attributes; fd must be at its start and
 * seekable. A pipe: writes the short header; attributes and features follow as records. */
int data_writer_open(struct data_writer *writer, int fd, bool pipe, const struct evlist *evlist, struct error *err);
void data_writer_fini(struct data_writer *writer);

/* Adds complete records, or consecutive pieces of them. Failures are stored; data_writer_flush reports them. */
void data_writer_add(struct data_writer *writer, const void *records, size_t size);
/* Adds spans without copying them, after the buffered data: for the rings. */
int data_writer_add_spans(struct data_writer *writer, const struct span *spans, size_t count, struct error *err);
int data_writer_flush(struct data_writer *writer, struct error *err);
/* Writes what is buffered; what is added next replaces all records after the first `size` bytes of them. Not for a pipe. */
int data_writer_rewind(struct data_writer *writer, uint64_t size, struct error *err);
/* Bytes added so far, buffered or written. */
static inline uint64_t data_writer_size(const struct data_writer *writer)
{
	return writer->data_bytes;
}

/* Ends a file: writes the features after the records, attributes and ids again (events may have got more), the final header. A pipe: only
 * flushes. */
int data_writer_finish(struct data_writer *writer, const struct evlist *evlist, const struct feature_bodies *features,
	struct error *err);

/* Returns the size of the stored attributes: that of perf 6.12, or a larger one if an event uses a later member. */
uint32_t data_attr_size(const struct evlist *evlist);
