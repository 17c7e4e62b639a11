/* Shared by the containers. Internal to data/. */
#pragma once
#include "data/inflate.h"
#include "data/source.h"

/* A file that is completely in memory or mapped. */
struct backing {
	uint8_t *bytes;
	uint64_t size;
	bool mapped;
	bool lent;      /* by another source */
};

/* Functions take ownership of a `backing` that is passed by non-const pointer, also on failure. Fills *backing with the regular file fd;
 * small files are read, large ones mapped for reading. */
int backing_load(struct backing *backing, int fd, uint64_t size, const char *path, struct error *err);
int backing_make_writable(struct backing *backing, const char *path, struct error *err);
/* Maps pages before they are read. A kernel before 5.14 ignores it, and a file that became shorter is read as before. */
void backing_map(const struct backing *backing, uint64_t from, uint64_t to);
/* Drops mapped pages from memory; unchanged bytes are read again on access. */
void backing_drop(const struct backing *backing, uint64_t from, uint64_t to);
/* The same, with the whole page of `from`: so that successive calls leave no page between them. */
void backing_drop_from(const struct backing *backing, uint64_t from, uint64_t to);
/* Mapped pages will be read in single places: none is read ahead, except those of parts that are announced. Only hints. */
void backing_read_places(const struct backing *backing);
void backing_announce(const struct backing *backing, uint64_t from, uint64_t to);
void backing_close(struct backing *backing);

enum container {
	CONTAINER_FILE,   /* sections located by a header */
	CONTAINER_STREAM, /* a header of 16 bytes, then records to the end */
};

#define STREAM_HEADER_BYTES 16

/* Determines the container from the first bytes, and sets *swapped and *v1. < 0: not a recording. */
int container_detect(const uint8_t *bytes, uint64_t len, bool *swapped, bool *v1, const char *path, struct error *err);
/* Reads a file's header, events and features; spans point into the backing. */
/* Whether the limit of memory has room for one more event with so many ids; false: it is counted, as all later ones. */
bool header_event_fits(struct header *header, size_t ids);
int header_read_file(struct header *header, const struct backing *file, const char *path, struct error *err);
/* Applies EVENT_DESC and GROUP_DESC to the known events; an existing name is retained. */
void header_read_event_names(struct header *header);
void header_read_groups(struct header *header);
/* Adds the entries of a build-id table: `records` is a sequence of records with headers, in the file's byte order. */
void header_add_build_ids(struct header *header, struct span records);
void header_add_build_id(struct header *header, uint16_t misc, const uint8_t *body, size_t len, bool swap);

/* Applies a record that describes the recording (native order) to the header. attrs: HEADER_ATTR adds events. Returns false if its body
 * does not match its type. */
bool header_apply_record(struct header *header, const struct record *record, bool attrs);

#define RECORD_HEADER_BYTES 8

/* The difference between a mark and a record's offset. */
static inline uint64_t source_lead(const struct source *source)
{
	return source->header.pipe ? STREAM_HEADER_BYTES : 0;
}

/* Decodes a record's first 8 bytes at p; returns its size as claimed. */
static inline uint32_t record_take_header(struct record *record, const uint8_t *p, bool swap)
{
	uint64_t word = load_u64(p);
	uint32_t type = (uint32_t)word;
	uint16_t misc = (uint16_t)(word >> 32), size = (uint16_t)(word >> 48);
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		type = word >> 32, misc = (uint16_t)(word >> 16), size = (uint16_t)word;
	record->type = swap ? __builtin_bswap32(type) : type;
	record->misc = swap ? __builtin_bswap16(misc) : misc;
	size = swap ? __builtin_bswap16(size) : size;
	record->body = p + RECORD_HEADER_BYTES;
	record->body_len = size - RECORD_HEADER_BYTES;
	return size;
}

/* Swaps a record's body in place, which must be writable; false: a size in it is invalid. */
bool record_make_native(struct record *record, const struct evlist *evlist);
/* The size of the data after the record in the container, from its body in native order; false if the body is too short. */
bool record_payload_size(const struct record *record, uint64_t *size);
/* Whether the first records of a pipe, before its side-band, announce a hardware trace. -1: *want bytes are needed to decide. */
int records_find_trace(const uint8_t *bytes, size_t len, bool swapped, size_t *want);

/* Starts to decompress the content of a COMPRESSED or COMPRESSED2 record. */
int inflater_begin(struct inflater *inflater, const struct record *record, uint64_t offset, const char *path, struct error *err);
/* The next record of the decompressed bytes: 1; 0: needs another piece; < 0: *err. */
int inflater_next(struct inflater *inflater, struct source *source, const char *path, struct record *record, struct error *err);
/* Call it after the last piece: < 0 if a record is truncated. */
int inflater_end(const struct inflater *inflater, const char *path, struct error *err);
int source_bad_size(const char *path, uint64_t offset, uint32_t size, uint64_t left, struct error *err);
/* Counts an unknown type. */
void source_note_type(struct source *source, uint32_t type);
/* Counts and applies records that are neither samples nor written by the kernel; true: deliver it. */
void source_note_record(struct source *source, const struct record *record);

/* Opens recordings of the same events, none of which is a stream, as one source. */
int source_open_series(struct source **source, const struct source_paths *paths, const struct source_options *options, struct error *err);
/* Whether the source has the complete file as it is in memory: *backing is valid until it is closed. */
bool source_lend(const struct source *source, struct backing *backing);
int source_open_file(struct source **source, struct backing *backing, const char *path, size_t event_memory, struct error *err);
/* Opens a stream of records from fd; takes ownership of fd, also on failure. */
int source_open_stream(struct source **source, int fd, const char *path, struct error *err);
/* Opens a copy of the bytes as a file. For tests. */
int source_open_memory(struct source **source, const void *bytes, size_t len, struct error *err);
/* Appends a part of a directory to a source of source_open_file. */
int source_add_part(struct source *source, struct backing *backing, const char *path, struct error *err);
