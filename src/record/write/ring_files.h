/* Writes a file for each ring, beside the main file of a recording in a folder, with records that the recorder makes: threads compress and
 * write them, each those of one ring at a time. Knows no record. */
#pragma once
#include <stdint.h>

#include "base/error.h"
#include "base/pool.h"
#include "base/writer.h"
#include "record/write/ring_readers.h"

struct ring_files;

/* Makes data.N in a folder (output.inside) for ring N of `count`. level: of zstd, 0: none. pool: borrowed. */
int ring_files_open(struct ring_files **files, size_t count, int folder, int level, struct pool *pool, struct error *err);
/* By ring: the writers to which records are added before ring_files_write. */
struct writer *ring_files_writers(struct ring_files *files);
/* Writes and empties them. Returns whether there were any records. */
int ring_files_write(struct ring_files *files, struct error *err);
struct ring_reader_totals ring_files_totals(const struct ring_files *files);
/* Closes the files; < 0 and *err if anything failed. To be called once. */
int ring_files_end(struct ring_files *files, struct error *err);
void ring_files_free(struct ring_files *files); /* accepts NULL */
