/* A stream of records, whatever the container: file, pipe, directory, compressed, live. Knows what a record looks like,
 * not what it means. Records come in the order of the file, in native byte order. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/record.h"
#include "base/error.h"
#include "data/header.h"

struct source_counters {
	uint64_t bytes_read;       /* of the data section, as stored */
	uint64_t bytes_total;      /* 0: not known (a pipe) */
	uint64_t bad_records;      /* skipped: a size that cannot be */
	uint64_t truncated_at;     /* file offset where the recording ends early; 0: whole */
	bool no_record;            /* what stands there claims to be smaller than a record's head */
	uint64_t unknown_types;
};

struct source;

struct source_ops {
	/* 1: *record is the next one, borrowed until source_release passes it; 0: the end; < 0: *err, and no more records. */
	int (*next)(struct source *source, struct record *record, struct error *err);
	/* Bytes of records delivered before `mark` (a value source_mark returned) are not needed any more. */
	void (*release)(struct source *source, uint64_t mark);
	void (*close)(struct source *source);
};

struct source {
	const struct source_ops *ops;
	struct header header;      /* complete before the first record of a file; grows as records pass in a pipe */
	struct source_counters counters;
	const char *path;
	uint64_t mark;             /* grows with each record; monotone */
};

struct source_options {
	bool force;                /* -f: do not ask who owns the file */
	bool header_only;          /* do not prepare for reading records */
};

/* Opens path ("-": stdin, which may be a pipe or a file; a directory: its data file and its parts). A FIFO is read as a pipe.
 * On failure *err names the file, the offset and what was expected. */
int source_open(struct source **source, const char *path, const struct source_options *options, struct error *err);
void source_close(struct source *source); /* NULL is fine */

/* For pipes HEADER_ATTR, HEADER_FEATURE, EVENT_UPDATE, HEADER_BUILD_ID, HEADER_TRACING_DATA are already applied to
 * source->header when next returns them. Records inside COMPRESSED ones come out themselves; the COMPRESSED record itself comes
 * first, for -D and counting. AUXTRACE payload is skipped (record_payload tells where it is). */
static inline int source_next(struct source *source, struct record *record, struct error *err)
{
	return source->ops->next(source, record, err);
}

static inline uint64_t source_mark(const struct source *source)
{
	return source->mark;
}

static inline void source_release(struct source *source, uint64_t mark)
{
	source->ops->release(source, mark);
}

/* The bytes behind an AUXTRACE record (len from its body), readable until the source is closed; NULL where cut or a pipe. */
const uint8_t *source_payload(struct source *source, const struct record *record, uint64_t len);
/* The file that a record (its body where the source left it) lies in: of a directory one of its parts. */
const char *source_record_path(const struct source *source, const struct record *record);
