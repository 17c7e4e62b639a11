/* A file for each ring, beside the recording's main file in a folder, whose records are made here and not by the kernel: threads
 * compress and write them, each a ring's at a time. Knows no record. */
#pragma once
#include <stdint.h>

#include "base/error.h"
#include "base/pool.h"
#include "base/writer.h"
#include "record/write/streams.h"

struct ring_files;

/* Makes data.N in a folder (output.inside) for ring N of `count`. level: of zstd, 0: none. pool: borrowed. */
int ring_files_open(struct ring_files **files, size_t count, int folder, int level, struct pool *pool, struct error *err);
/* Where records are put, by ring; until ring_files_write. */
struct writer *ring_files_writers(struct ring_files *files);
/* Writes what was put there. Returns whether there was anything. */
int ring_files_write(struct ring_files *files, struct error *err);
struct stream_totals ring_files_totals(const struct ring_files *files);
/* < 0: what failed first. Once. */
int ring_files_end(struct ring_files *files, struct error *err);
void ring_files_free(struct ring_files *files); /* NULL is fine */
