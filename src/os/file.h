/* Small files of /proc, /sys and tracefs: read completely, as a line, or as a number; and the names in a folder. Does not interpret
 * them. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

/* Appends the whole file to *out; more than limit bytes: ERROR_LIMIT. */
int file_read(const char *path, struct str *out, size_t limit, struct error *err);
/* The same for a path that others may have chosen: what is not a regular file is not opened (base/regular.h). */
int file_read_regular(const char *path, struct str *out, size_t limit, struct error *err);
/* The first line without its newline, NUL-terminated; false if it cannot be read. Longer lines are truncated. */
bool file_line(const char *path, char *line, size_t size);
/* Parses a number in base 10, or as 0x…; false if the file has none. */
bool file_number(const char *path, int64_t *value);
bool file_exists(const char *path);
/* Writes all bytes; false on failure. */
bool file_write(int fd, const void *bytes, size_t size);

struct names {
	VEC(const char *) list;
	struct arena arena;
};

/* The names in a folder, without "." and "..", in the folder's own order. */
int folder_names(const char *path, struct names *names, struct error *err);
void names_sort(struct names *names);
void names_fini(struct names *names);

static inline void cleanup_names(struct names *names)
{
	names_fini(names);
}
#define CLEANUP_NAMES __attribute__((cleanup(cleanup_names)))

static inline void cleanup_fd(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
#define CLEANUP_FD __attribute__((cleanup(cleanup_fd)))
