/* bzip2 files, compressed by several threads and read by one. The output is a sequence of complete streams, which any bzip2 decompresses as
 * one. Knows no content. */
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
	size_t count, at;      /* number of blocks, and the one being filled */
};

/* Borrows both. */
void bzip_writer_open(struct bzip_writer *writer, int fd, struct pool *pool);
int bzip_write(struct bzip_writer *writer, const void *bytes, size_t size, struct error *err);
int bzip_writer_finish(struct bzip_writer *writer, struct error *err);
void bzip_writer_close(struct bzip_writer *writer); /* unfinished data is dropped */

/* A file that is not compressed is read unchanged. */
struct bzip_reader;
int bzip_reader_open(struct bzip_reader **reader, int fd, struct error *err); /* borrows fd */
ssize_t bzip_read(struct bzip_reader *reader, void *buffer, size_t size, struct error *err);
void bzip_reader_close(struct bzip_reader *reader); /* accepts NULL */
