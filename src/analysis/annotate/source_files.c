#include "analysis/annotate/source_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "image/file.h"

enum { SOURCE_PATH_MAX = 4096 };
#define SOURCE_BYTES_MAX ((size_t)64 << 20)
/* Lines of all files: DWARF can name one file by many paths. */
#define SOURCE_LINES_MAX ((size_t)1 << 24)

struct source_file_text {
	struct span bytes;             /* mapped; empty: the file cannot be read */
	VEC(uint32_t) starts;          /* offset of each line */
};

struct source_files {
	const char *prefix;
	unsigned strip;
	VEC(struct source_file_text) files;
	struct idmap by_path;          /* address of the path's text → index in files */
	size_t lines;                  /* of all files */
};

struct source_files *source_files_new(const char *prefix, unsigned strip)
{
	struct source_files *texts = memory_zero(1, sizeof *texts);
	texts->prefix = prefix;
	texts->strip = strip;
	return texts;
}

void source_files_free(struct source_files *texts)
{
	if (!texts)
		return;
	for (size_t i = 0; i < texts->files.count; i++) {
		rooted_unmap(&texts->files.items[i].bytes);
		vec_fini(&texts->files.items[i].starts);
	}
	vec_fini(&texts->files);
	idmap_fini(&texts->by_path);
	free(texts);
}

/* As objdump's --prefix and --prefix-strip: for absolute paths. */
static bool prefixed_path(const struct source_files *texts, const char *path, char *out)
{
	if (texts->prefix && *path == '/') {
		for (unsigned i = 0; i < texts->strip; i++) {
			const char *next = strchr(path + 1, '/');
			if (!next)
				break;
			path = next;
		}
	}
	bool prefix = texts->prefix && *path == '/';
	int n = snprintf(out, SOURCE_PATH_MAX, "%s%s", prefix ? texts->prefix : "", path);
	return n > 0 && n < SOURCE_PATH_MAX;
}

static void find_lines(struct source_file_text *file, size_t most)
{
	size_t at = 0;
	while (at < file->bytes.len && file->starts.count < most) {
		vec_push(&file->starts, (uint32_t)at);
		const uint8_t *end = memchr(file->bytes.data + at, '\n', file->bytes.len - at);
		at = end ? (size_t)(end - file->bytes.data) + 1 : file->bytes.len;
	}
}

static const struct source_file_text *text_of(struct source_files *texts, const char *path)
{
	bool added;
	uint32_t index = idmap_add(&texts->by_path, (uintptr_t)path, (uint32_t)texts->files.count, &added);
	if (!added)
		return &texts->files.items[index];
	struct source_file_text *file = vec_add(&texts->files);
	char name[SOURCE_PATH_MAX];
	if (prefixed_path(texts, path, name) && rooted_map(-1, name, &file->bytes, NULL) < 0)
		file->bytes = (struct span){ 0 };
	if (file->bytes.len > SOURCE_BYTES_MAX)
		rooted_unmap(&file->bytes);
	if (file->bytes.data)
		find_lines(file, SOURCE_LINES_MAX - texts->lines);
	texts->lines += file->starts.count;
	return file;
}

const char *source_files_line(struct source_files *texts, const char *path, uint32_t line, uint32_t *length)
{
	const struct source_file_text *file = text_of(texts, path);
	if (!line || line > file->starts.count)
		return NULL;
	uint32_t start = file->starts.items[line - 1];
	size_t end = line < file->starts.count ? file->starts.items[line] : file->bytes.len;
	const char *text = (const char *)file->bytes.data + start;
	size_t len = end - start;
	while (len && (text[len - 1] == '\n' || text[len - 1] == '\r'))
		len--;
	*length = (uint32_t)len;
	return text;
}
