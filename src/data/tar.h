/* Tape archives, member by member. Reads ustar, GNU's and pax's long names and sizes; writes ustar with GNU's extensions.
 * Format: POSIX "ustar Interchange Format" and "pax Extended Header", tar(5). Knows no compression and writes no file:
 * whether a name may be believed is for whoever unpacks. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"

enum { TAR_BLOCK = 512, TAR_RECORD = 20 * TAR_BLOCK };
#define TAR_NAME_MAX 65536u /* longer names and targets are refused */

enum tar_kind { TAR_FILE = '0', TAR_HARD_LINK = '1', TAR_LINK = '2', TAR_FOLDER = '5' };

struct tar_member {
	char kind;             /* enum tar_kind, or what else the archive says */
	const char *name;      /* borrowed until the next member */
	const char *target;    /* of links; "" */
	uint64_t size;         /* of the content that follows */
	uint32_t mode;
	int64_t time_s;
};

struct tar_reader {
	/* How many bytes it got, 0 at the end, < 0 with *err set. */
	ssize_t (*read)(void *context, void *buffer, size_t size, struct error *err);
	void *context;
	uint64_t left, padding;  /* of the member's content */
	struct str name, target; /* the member's */
};

/* 1: a member, 0: the end. What was not read of the one before is passed over. */
int tar_next(struct tar_reader *tar, struct tar_member *member, struct error *err);
/* Of the member's content: how many bytes, 0 at its end. */
ssize_t tar_read(struct tar_reader *tar, void *buffer, size_t size, struct error *err);
void tar_reader_fini(struct tar_reader *tar);

struct tar_writer {
	int (*write)(void *context, const void *bytes, size_t size, struct error *err);
	void *context;
	uint64_t left, written;
};

/* Then exactly member->size bytes by tar_write, in any pieces. */
int tar_add(struct tar_writer *tar, const struct tar_member *member, struct error *err);
int tar_write(struct tar_writer *tar, const void *bytes, size_t size, struct error *err);
int tar_finish(struct tar_writer *tar, struct error *err);
