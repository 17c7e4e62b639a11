/* Reads a jitdump, the records that a just-in-time compiler writes about its code, in the order of their creation. Reads through a window,
 * so that dumps of any size use constant memory; a record that the end of the file cuts is ignored. Source:
 * tools/perf/Documentation/jitdump-specification.txt. Knows no process and only function names. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/record.h"
#include "base/error.h"
#include "base/reader.h"

enum {
	JITDUMP_WINDOW = 64 << 10,
	JITDUMP_NAME_MAX = 16 << 10, /* longer names are truncated */
};

enum jitdump_type {
	JITDUMP_LOAD, JITDUMP_MOVE, JITDUMP_DEBUG_INFO, JITDUMP_CLOSE, JITDUMP_UNWINDING_INFO
};

struct jitdump_header {
	uint32_t version, size, machine, pid; /* machine: EM_* */
	uint64_t timestamp;
	bool arch_timestamp; /* times are those of the processor's counter (TSC), not of CLOCK_MONOTONIC */
};

struct jitdump_load {
	int32_t pid, tid;
	uint64_t vma, address, size, index;
	const char *name;        /* borrowed until the next record */
	uint64_t code_offset;    /* in the file: `size` bytes */
};

struct jitdump_move {
	int32_t pid, tid;
	uint64_t vma, from, to, size, index;
};

/* Applies to the next LOAD. */
struct jitdump_debug {
	uint64_t address, count;
	uint64_t offset, size;   /* in the file: the entries, including padding */
};

/* Applies to the next LOAD: .eh_frame, then .eh_frame_hdr. */
struct jitdump_unwinding {
	uint64_t size, header_size, mapped_size;
	uint64_t offset;         /* in the file: `size` bytes */
};

struct jitdump_record {
	uint32_t type, size;     /* type: enum jitdump_type, or an unknown value */
	uint64_t timestamp, offset;
	union {
		struct jitdump_load load;
		struct jitdump_move move;
		struct jitdump_debug debug;
		struct jitdump_unwinding unwinding;
	};
};

struct jitdump {
	struct reader reader;    /* borrowed */
	struct jitdump_header header;
	bool swapped;
	uint64_t at;             /* of the next record */
	uint64_t bad_records;    /* skipped records with invalid content */
	uint8_t *window;
	uint64_t window_at;
	size_t window_len;
	char name[JITDUMP_NAME_MAX + 1];
};

/* The PID of "/…/jit-PID.dump", the name under which a compiler maps its dump; -1: another name. */
long jitdump_pid_of_path(const char *path);
/* Whether a record MMAP or MMAP2 maps a dump. */
bool jitdump_is_mapped(const struct record *record);
int jitdump_open(struct jitdump *dump, const struct reader *reader, struct error *err);
void jitdump_fini(struct jitdump *dump); /* accepts a zeroed dump */
/* 1: *record is the next complete record; 0: the end, or the rest is not a record. Can be called again if the file grows. */
int jitdump_next(struct jitdump *dump, struct jitdump_record *record);

/* The entries of one DEBUG_INFO record, parsed from its bytes. */
struct jitdump_lines {
	struct cursor cursor;
	uint64_t left;
	const char *file;
};

struct jitdump_line {
	uint64_t address;
	uint32_t line, discriminator;
	const char *file;        /* borrowed from the bytes */
};

void jitdump_lines_init(struct jitdump_lines *lines, const struct jitdump *dump, const struct jitdump_debug *debug,
	const uint8_t *bytes);
bool jitdump_lines_next(struct jitdump_lines *lines, struct jitdump_line *line);
