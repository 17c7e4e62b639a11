/* What the containers share. Not for other layers. */
#pragma once
#include "data/inflate.h"
#include "data/source.h"

/* A whole file in memory or mapped. */
struct backing {
	uint8_t *bytes;
	uint64_t size;
	bool mapped;
};

/* `backing` is taken over, also on failure, wherever it is passed as a pointer to one that is not const.
 * Fills *backing with the regular file fd; small files are read, large ones mapped for reading. */
int backing_load(struct backing *backing, int fd, uint64_t size, const char *path, struct error *err);
int backing_make_writable(struct backing *backing, const char *path, struct error *err);
/* Gives the memory of a part back, as far as it is mapped; unchanged bytes come back when they are read again. */
void backing_drop(const struct backing *backing, uint64_t from, uint64_t to);
void backing_close(struct backing *backing);

enum container {
	CONTAINER_FILE,   /* sections named by a header */
	CONTAINER_STREAM, /* a header of 16 bytes, then records to the end */
};

#define STREAM_HEADER_BYTES 16

/* What the first bytes say; *swapped and *v1 as they say. < 0: not a recording. */
int container_detect(const uint8_t *bytes, uint64_t len, bool *swapped, bool *v1, const char *path, struct error *err);
/* Reads a file's header, events and features; spans point into the backing. */
int header_read_file(struct header *header, const struct backing *file, const char *path, struct error *err);
/* What EVENT_DESC and GROUP_DESC tell of the events that are known; a name that is there already stays. */
void header_read_event_names(struct header *header);
void header_read_groups(struct header *header);
/* Adds the entries of a build-id table: `records` is a row of records with headers, in the file's byte order. */
void header_add_build_ids(struct header *header, struct span records);
void header_add_build_id(struct header *header, uint16_t misc, const uint8_t *body, size_t len, bool swap);

/* Applies a record that describes the recording (native order) to the header. attrs: HEADER_ATTR adds events. */
void header_apply_record(struct header *header, const struct record *record, bool attrs);

#define RECORD_HEADER_BYTES 8

/* What a record's offset does not count. */
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

/* Swaps a record's body in place; false: a size in it cannot be. The body is writable. */
bool record_make_native(struct record *record, const struct evlist *evlist);
/* What follows the record in the container, from its body in native order; false where the body is too short to tell. */
bool record_payload_size(const struct record *record, uint64_t *size);

/* Feeds what a COMPRESSED or COMPRESSED2 record holds. */
int inflater_begin(struct inflater *inflater, const struct record *record, uint64_t offset, const char *path, struct error *err);
/* The next record out of the decompressed bytes: 1, 0: needs another piece, < 0: *err. */
int inflater_next(struct inflater *inflater, struct source *source, struct record *record, struct error *err);
/* No more pieces will come: < 0 where a record is cut. */
int inflater_end(const struct inflater *inflater, struct source *source, const char *path, struct error *err);
int source_bad_size(struct source *source, uint64_t offset, uint32_t size, uint64_t left, struct error *err);
/* Counts and applies what is neither a sample nor a record of the kernel; true: deliver it. */
void source_note_record(struct source *source, const struct record *record);

int source_open_file(struct source **source, struct backing *backing, const char *path, struct error *err);
/* A stream of records from fd, which the source then owns, also on failure. */
int source_open_stream(struct source **source, int fd, const char *path, struct error *err);
/* As a file of that content; the bytes are copied. For tests. */
int source_open_memory(struct source **source, const void *bytes, size_t len, struct error *err);
/* Puts the parts of a directory behind the main file of a source of source_open_file. */
int source_add_part(struct source *source, struct backing *backing, const char *path, struct error *err);
