#include "rewrite/jit_file.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/vec.h"
#include "elf/jit_image.h"
#include "image/jit_dump.h"
#include "os/file.h"

enum { ELF_HEADER_BIAS = 0x40 }; /* V8 and LLVM add this to a line's address, for old versions of perf */

void jit_file_open(struct jit_file *file)
{
	*file = (struct jit_file){ 0 };
	writer_open(&file->image, -1, 0);
}

static void forget(struct jit_extra *extra)
{
	free(extra->bytes);
	*extra = (struct jit_extra){ 0 };
}

void jit_file_forget_extras(struct jit_file *file)
{
	forget(&file->lines);
	forget(&file->tables);
}

void jit_file_close(struct jit_file *file)
{
	jit_file_forget_extras(file);
	writer_fini(&file->image);
	free(file->code);
	file->code = NULL;
}

static uint8_t *read_bytes(const struct jitdump *dump, uint64_t offset, uint64_t size)
{
	if (!size || size > JIT_EXTRA_MAX)
		return NULL;
	uint8_t *bytes = memory_alloc((size_t)size);
	if (reader_at(&dump->reader, bytes, (size_t)size, offset) == (ssize_t)size)
		return bytes;
	free(bytes);
	return NULL;
}

void jit_file_take_lines(struct jit_file *file, const struct jitdump *dump, const struct jitdump_debug *debug)
{
	forget(&file->lines);
	if (debug->size > JIT_ALL_LINES_MAX - file->lines_read)
		return;
	file->lines.debug = *debug;
	file->lines.bytes = read_bytes(dump, debug->offset, debug->size);
	file->lines_read += file->lines.bytes ? debug->size : 0;
}

void jit_file_take_tables(struct jit_file *file, const struct jitdump *dump, const struct jitdump_unwinding *unwinding)
{
	forget(&file->tables);
	file->tables.unwinding = *unwinding;
	file->tables.bytes = read_bytes(dump, unwinding->offset, unwinding->size);
}

static int compare_lines(const void *a, const void *b)
{
	const struct jit_image_line *left = a, *right = b;
	return left->offset < right->offset ? -1 : left->offset > right->offset;
}

/* The lines that lie in the code, by address; to be freed. */
static struct jit_image_line *lines_of(const struct jit_file *file, const struct jitdump *dump, const struct jitdump_load *load,
	size_t *count)
{
	const struct jit_extra *extra = &file->lines;
	struct jitdump_lines lines;
	struct jitdump_line line;
	uint64_t bias = ELF_HEADER_BIAS;
	VEC(struct jit_image_line) rows = { 0 };
	jitdump_lines_init(&lines, dump, &extra->debug, extra->bytes);
	while (jitdump_lines_next(&lines, &line))
		if (line.address - load->address < ELF_HEADER_BIAS)
			bias = 0;
	jitdump_lines_init(&lines, dump, &extra->debug, extra->bytes);
	while (jitdump_lines_next(&lines, &line)) {
		uint64_t offset = line.address - load->address - bias;
		if (offset < load->size)
			vec_push(&rows, ((struct jit_image_line){ .offset = offset, .line = line.line, .file = line.file }));
	}
	for (size_t i = 1; i < rows.count; i++)
		if (rows.items[i].offset < rows.items[i - 1].offset) {
			qsort(rows.items, rows.count, sizeof *rows.items, compare_lines);
			break;
		}
	*count = rows.count;
	return rows.items;
}

static bool read_code(struct jit_file *file, const struct jitdump *dump, const struct jitdump_load *load)
{
	if (load->size > JIT_CODE_MAX)
		return false;
	if (file->code_room < load->size) {
		file->code_room = (size_t)load->size * 2;
		free(file->code);
		file->code = memory_alloc(file->code_room);
	}
	return reader_at(&dump->reader, file->code, (size_t)load->size, load->code_offset) == (ssize_t)load->size;
}

bool jit_file_make(struct jit_file *file, const struct jitdump *dump, const struct jitdump_load *load, uint8_t id[static JIT_FILE_ID_SIZE])
{
	if (!read_code(file, dump, load))
		return false;
	struct jit_image image = { .address = load->address, .name = load->name, .code = { file->code, (size_t)load->size } };
	const struct jitdump_unwinding *tables = &file->tables.unwinding;
	struct jit_image_line *lines = NULL;
	if (file->lines.bytes)
		image.lines = lines = lines_of(file, dump, load, &image.line_count);
	if (file->tables.bytes && tables->header_size) {
		size_t head = (size_t)tables->header_size, frames = (size_t)(tables->size - tables->header_size);
		image.eh_frame = (struct span){ file->tables.bytes, frames };
		image.eh_frame_hdr = (struct span){ file->tables.bytes + frames, head };
	}
	file->image.len = 0;
	jit_image_write(&image, &file->image, id);
	free(lines);
	return true;
}

int jit_file_write(const struct jit_file *file, int folder, const char *name, struct stat *st, struct error *err)
{
	int fd = jit_dump_create(folder, name, err);
	if (fd < 0)
		return -1;
	int failed = 0;
	if (!file_write(fd, file->image.buffer, file->image.len))
		failed = error_system(err, "cannot write %s", name);
	else if (fstat(fd, st) != 0)
		failed = error_system(err, "cannot look at %s", name);
	close(fd);
	if (failed)
		unlinkat(folder, name, 0);
	return failed;
}

uint64_t jit_file_mapped_size(const struct jit_file *file, uint64_t code_size)
{
	uint64_t tables = file->tables.unwinding.mapped_size;
	return tables && tables < UINT32_MAX ? ((code_size + 7) & ~(uint64_t)7) + tables : code_size;
}
