/* Files packed by bzip2, written by several threads and read by one. What is written is a row of whole streams, which any
 * bzip2 reads as one. Knows no content. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct pool;
struct bzip_block;

struct bzip_writer {
	int fd;
	struct pool *pool;
	struct bzip_block *blocks;
	size_t count, at;      /* blocks, and the one that is being filled */
};

/* Borrows both. */
void bzip_writer_open(struct bzip_writer *writer, int fd, struct pool *pool);
int bzip_write(struct bzip_writer *writer, const void *bytes, size_t size, struct error *err);
int bzip_writer_finish(struct bzip_writer *writer, struct error *err);
void bzip_writer_close(struct bzip_writer *writer); /* what was not finished is dropped */

/* A file that is not packed is read as it is. */
struct bzip_reader;
int bzip_reader_open(struct bzip_reader **reader, int fd, struct error *err); /* borrows fd */
ssize_t bzip_read(struct bzip_reader *reader, void *buffer, size_t size, struct error *err);
void bzip_reader_close(struct bzip_reader *reader); /* NULL is fine */
