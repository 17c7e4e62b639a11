#include "record/write/ring_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "os/file.h"
#include "record/write/compress.h"
#include "record/write/output.h"

struct ring_file {
	int fd;
	struct compressor compressor;
	struct writer packed;
	struct error error;
	uint64_t bytes;
};

struct ring_files {
	struct ring_file *list;
	struct writer *writers;
	size_t count;
	int level;
	struct pool *pool;
};

static int open_file(struct ring_file *file, int folder, size_t index, int level, struct error *err)
{
	file->fd = output_part(folder, index, err);
	if (file->fd < 0)
		return -1;
	return level ? compressor_open(&file->compressor, level, err) : 0;
}

int ring_files_open(struct ring_files **out, size_t count, int folder, int level, struct pool *pool, struct error *err)
{
	struct ring_files *files = *out = memory_zero(1, sizeof *files);
	*files = (struct ring_files){ .count = count, .level = level, .pool = pool };
	files->list = memory_zero(count ? count : 1, sizeof *files->list);
	files->writers = memory_zero(count ? count : 1, sizeof *files->writers);
	for (size_t i = 0; i < count; i++) {
		files->list[i].fd = -1;
		writer_open(&files->list[i].packed, -1, 0);
		writer_open(&files->writers[i], -1, 0);
	}
	for (size_t i = 0; i < count; i++)
		if (open_file(&files->list[i], folder, i, level, err) < 0)
			return -1;
	return 0;
}

struct writer *ring_files_writers(struct ring_files *files)
{
	return files->writers;
}

static void write_all(struct ring_file *file, const struct writer *from)
{
	if (file_write(file->fd, from->buffer, from->len))
		file->bytes += from->len;
	else
		error_system(&file->error, "cannot write the recording");
}

static void write_ring(void *context, size_t ring, unsigned worker)
{
	struct ring_files *files = context;
	struct ring_file *file = &files->list[ring];
	struct writer *made = &files->writers[ring];
	(void)worker;
	if (!made->len || file->error.kind != ERROR_NONE)
		return;
	const struct span records = { (const uint8_t *)made->buffer, made->len };
	file->packed.len = 0;
	if (!files->level)
		write_all(file, made);
	else if (compressor_add(&file->compressor, records, &file->packed, &file->error) >= 0)
		write_all(file, &file->packed);
	made->len = 0;
}

static int first_error(const struct ring_files *files, struct error *err)
{
	for (size_t i = 0; i < files->count; i++)
		if (files->list[i].error.kind != ERROR_NONE) {
			if (err)
				*err = files->list[i].error;
			return -1;
		}
	return 0;
}

int ring_files_write(struct ring_files *files, struct error *err)
{
	int any = 0;
	for (size_t i = 0; i < files->count; i++)
		any |= files->writers[i].len != 0;
	if (any)
		pool_run(files->pool, files->count, write_ring, files);
	return first_error(files, err) < 0 ? -1 : any;
}

struct ring_reader_totals ring_files_totals(const struct ring_files *files)
{
	struct ring_reader_totals totals = { 0 };
	for (size_t i = 0; i < files->count; i++) {
		totals.bytes += files->list[i].bytes;
		totals.compressed_from += files->list[i].compressor.in;
		totals.compressed_to += files->list[i].compressor.out;
	}
	return totals;
}

int ring_files_end(struct ring_files *files, struct error *err)
{
	for (size_t i = 0; i < files->count; i++) {
		struct ring_file *file = &files->list[i];
		if (file->fd >= 0 && close(file->fd) != 0 && errno != EINTR && file->error.kind == ERROR_NONE)
			error_system(&file->error, "cannot write the recording");
		file->fd = -1;
	}
	return first_error(files, err);
}

void ring_files_free(struct ring_files *files)
{
	if (!files)
		return;
	ring_files_end(files, NULL);
	for (size_t i = 0; i < files->count; i++) {
		compressor_close(&files->list[i].compressor);
		writer_fini(&files->list[i].packed);
		writer_fini(&files->writers[i]);
	}
	free(files->list);
	free(files->writers);
	free(files);
}
