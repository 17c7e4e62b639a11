/* A recording being written: perf.data as a file (the header is patched at the end) or as a pipe.
 * Lays out what it is given; does not know what records or features say. Source: perf.data-file-format.txt. */
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
	struct writer out;          /* records wait here */
	int fd;                     /* borrowed */
	bool pipe;
	uint32_t attr_size;         /* that attributes are stored with */
	uint64_t data_offset;       /* file: where the records begin */
	uint64_t data_bytes;        /* of records, so far; a pipe: of everything */
};

/* Starts a recording of these events. A file: header (saying that it is not finished), ids and attributes; fd is at its start and
 * can be sought. A pipe: the short header; attributes and features follow as records. */
int data_writer_open(struct data_writer *writer, int fd, bool pipe, const struct evlist *evlist, struct error *err);
/* The same, attributes being stored with no less than attr_size bytes. */
int data_writer_open_wide(struct data_writer *writer, int fd, bool pipe, const struct evlist *evlist, uint32_t attr_size,
	struct error *err);
void data_writer_fini(struct data_writer *writer);

/* Adds whole records, or pieces of what is whole together. Failures are remembered and told by data_writer_flush. */
void data_writer_add(struct data_writer *writer, const void *records, size_t size);
/* Adds spans without copying them (after what waits): for the rings. */
int data_writer_add_spans(struct data_writer *writer, const struct span *spans, size_t count, struct error *err);
int data_writer_flush(struct data_writer *writer, struct error *err);
/* What has been added so far, waiting or written. */
static inline uint64_t data_writer_size(const struct data_writer *writer)
{
	return writer->data_bytes;
}

/* Ends a file: the features behind the records, attributes and ids again (events may have got more), the true header.
 * A pipe: nothing but a flush. */
int data_writer_finish(struct data_writer *writer, const struct evlist *evlist, const struct feature_bodies *features,
	struct error *err);

/* The size all attributes of a recording are stored with: the smallest that holds what every one uses. */
uint32_t data_attr_size(const struct evlist *evlist);
