/* A stream of records, independent of the container: file, pipe, directory, compressed, live. Knows the layout of records, not their
 * meaning. Records have the order of the file, and native byte order. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/record.h"
#include "base/budget.h"
#include "base/error.h"
#include "base/vec.h"
#include "data/header.h"

struct source_counters {
	uint64_t bytes_read;       /* of the data section, as stored */
	uint64_t bytes_total;      /* 0: unknown (a pipe) */
	uint64_t bad_records;      /* invalid types, and bodies that do not match their type */
	uint64_t unknown_types;    /* types of a newer kernel or recorder */
};

struct source;

struct source_ops {
	/* 1: *record is the next one, borrowed until source_release passes it; 0: the end; < 0: *err, and no more records. */
	int (*next)(struct source *source, struct record *record, struct error *err);
	/* Bytes of records delivered before `mark` (a result of source_mark) are no longer needed. */
	void (*release)(struct source *source, uint64_t mark);
	void (*close)(struct source *source);
	void (*set_window)(struct source *source, uint64_t from_ns, uint64_t until_ns); /* NULL: nothing is skipped */
};

struct source {
	const struct source_ops *ops;
	struct header header;      /* of a file: complete before the first record; of a pipe: extended as records are read */
	struct source_counters counters;
	const char *path;
	uint64_t device, inode;    /* of the regular file that is read; 0: another kind of source */
	uint64_t mark;             /* increases with each record */
	uint64_t used;             /* by a reader that uses records later, in another order: their bytes (source_release_used) */
	uint32_t part;             /* of several recordings, the number of the one that the last record is of; otherwise 0 */
	bool traced;               /* a pipe whose first records announce a hardware trace */
	struct span payload;       /* of a pipe: the bytes after its last record, if that is AUXTRACE */
	bool member;               /* of several recordings: records that describe events are applied to the header of all */
	bool passing; /* set by a reader that needs the bytes of a record only until it reads the next one */
	bool roomy; /* set by a reader with little work for each record: pages that it will need are dropped later, as reading again costs more */
};

struct source_options {
	bool force;                /* -f: do not check the owner of the file */
	bool header_only;          /* do not prepare for reading records */
	bool series;               /* several files may be read as one: see source_paths_find */
	size_t event_memory;       /* that events may take; the others are left out. 0: no limit */
	const struct source *same; /* another reader of this file, closed later, whose bytes in memory are used. NULL: none */
	bool member;               /* one of several: a stream is refused, and its records do not change its header */
};

/* The share of a limit of memory, in bytes, that a recording's events may take. 0 without a budget: no limit. */
size_t source_event_memory(struct budget *budget);

struct source_paths {
	char **items;
	size_t count, capacity;
};

/* The recordings that are read as one: if no file has this path, those that match it as a pattern (glob(7)); of a folder that is not a
 * recording itself, those whose names end in a time as written by record --switch-output. In the order of their names. Empty: the path is
 * that of one recording. */
void source_paths_find(struct source_paths *paths, const char *path);
void source_paths_fini(struct source_paths *paths);
/* Opens path ("-": stdin, which may be a pipe or a file; a directory: its data file and its parts). A FIFO is read as a pipe. On failure
 * *err names the file, the offset and the expected content. */
int source_open(struct source **source, const char *path, const struct source_options *options, struct error *err);
void source_close(struct source *source); /* accepts NULL */
/* Before the first record: samples outside of [from_ns, until_ns] may be skipped. They are if the file has an index (data/time_index.h). */
void source_set_window(struct source *source, uint64_t from_ns, uint64_t until_ns);

/* For pipes, HEADER_ATTR, HEADER_FEATURE, EVENT_UPDATE, HEADER_BUILD_ID, HEADER_TRACING_DATA are applied to source->header before next
 * returns them. A COMPRESSED record is returned itself, for -D and counting, followed by the records inside it. AUXTRACE payload is skipped
 * (record_payload locates it). */
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

/* The same by a reader that uses records later, in another order: it has used so many bytes since the last call. */
static inline void source_release_used(struct source *source, uint64_t mark, uint64_t used)
{
	source->used += used;
	source->ops->release(source, mark);
}

/* The bytes after an AUXTRACE record (len from its body), readable until the source is closed, in a pipe until the next record; NULL if
 * truncated. */
const uint8_t *source_payload(struct source *source, const struct record *record, uint64_t len);
/* Frees the memory of bytes that source_payload returned, as far as the file has them, and of what precedes them in their first page: it
 * is read again where it is needed. */
void source_drop_payload(struct source *source, const uint8_t *bytes, uint64_t len);
/* Where a byte of a record or of source_payload is in the file source->path; false: it is in no file, or in one of several. */
bool source_file_offset(const struct source *source, const uint8_t *byte, uint64_t *offset);
/* The file that contains a record (identified by its body in the source): of a directory one of its parts. */
const char *source_record_path(const struct source *source, const struct record *record);
