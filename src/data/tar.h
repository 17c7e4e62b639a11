/* Tar archives, member by member. Reads ustar, and long names and sizes of GNU and pax; writes ustar with GNU's extensions. Format: POSIX
 * "ustar Interchange Format" and "pax Extended Header", tar(5). Knows no compression and writes no file: names are untrusted, the caller
 * checks them. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"

enum { TAR_BLOCK = 512, TAR_RECORD = 20 * TAR_BLOCK };
#define TAR_NAME_MAX 65536u /* longer names and targets are rejected */

enum tar_kind { TAR_FILE = '0', TAR_HARD_LINK = '1', TAR_LINK = '2', TAR_FOLDER = '5' };

struct tar_member {
	char kind;             /* enum tar_kind, or another value of the archive */
	const char *name;      /* borrowed until the next member */
	const char *target;    /* of links; "" */
	uint64_t size;         /* of the content that follows, in bytes */
	uint32_t mode;
	int64_t time_s;
};

struct tar_reader {
	/* Returns the number of bytes read, 0 at the end, < 0 with *err set. */
	ssize_t (*read)(void *context, void *buffer, size_t size, struct error *err);
	void *context;
	uint64_t left, padding;  /* remaining bytes of the member's content */
	struct str name, target; /* of the member */
};

/* 1: a member, 0: the end. Unread content of the member before is skipped. */
int tar_next(struct tar_reader *tar, struct tar_member *member, struct error *err);
/* Reads the member's content: returns the number of bytes, 0 at its end. */
ssize_t tar_read(struct tar_reader *tar, void *buffer, size_t size, struct error *err);
void tar_reader_fini(struct tar_reader *tar);

struct tar_writer {
	int (*write)(void *context, const void *bytes, size_t size, struct error *err);
	void *context;
	uint64_t left, written;
};

/* Follow it with exactly member->size bytes by tar_write, in any pieces. */
int tar_add(struct tar_writer *tar, const struct tar_member *member, struct error *err);
int tar_write(struct tar_writer *tar, const void *bytes, size_t size, struct error *err);
int tar_finish(struct tar_writer *tar, struct error *err);
