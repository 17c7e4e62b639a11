/* Small files of /proc, /sys and tracefs: whole, as a line, as a number; and the names in a folder. Knows no file's meaning. */
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
/* The first line without its newline, NUL-terminated; false where it cannot be read. Longer lines are cut. */
bool file_line(const char *path, char *line, size_t size);
/* A number in base 10, or as 0x…; false where there is none. */
bool file_number(const char *path, int64_t *value);
bool file_exists(const char *path);
/* All bytes, or false. */
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
