/* Files and folders below a checked folder: the only functions to create, open, replace, link and remove entries where another user of the
 * machine, or the content of a recording or an archive, could choose the names.
 *
 * A path below is relative and plain: "a/b/c". Absolute paths, "", ".", "..", empty parts ("a//b", "a/") and parts above NAME_MAX are
 * rejected with ERROR_FORMAT. No function follows a symbolic link, including the last part (ELOOP); so nothing outside of the folder is
 * reached. Uses openat2 (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS); if the system call is missing or denied, opens part by part with openat
 * and O_NOFOLLOW, with the same results. Every descriptor is close-on-exec.
 *
 * os/place.h decides which folder is trustworthy. Knows no format and no meaning of a name. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "os/file.h"

/* Returns whether path is a path as described above. */
bool checked_path(const char *path, struct error *err);
/* As openat(2) without O_CREAT. Never blocks on a FIFO or acquires a terminal; the caller checks whether it is a regular file (fstat). */
int checked_open(int folder, const char *path, int flags, struct error *err);
/* As checked_open for reading a regular file; anything else: ERROR_UNSUPPORTED. */
int checked_open_file(int folder, const char *path, struct error *err);
/* Opens the folder (O_PATH), and creates it and its parents if they are missing; mode: of created folders, minus the umask. */
int checked_make(int folder, const char *path, mode_t mode, struct error *err);
/* The names in a folder; path NULL: in `folder` itself. */
int checked_names(int folder, const char *path, struct names *names, struct error *err);
/* Creates a symbolic link with that text, and replaces a file or link of that name. Creates no folders. */
int checked_link(int folder, const char *path, const char *target, struct error *err);
/* The text of a symbolic link, NUL-terminated. Longer ones: ERROR_LIMIT. */
int checked_link_read(int folder, const char *path, char *target, size_t size, struct error *err);
/* Removes a file, a link, or a folder with its content on the same file system. */
int checked_remove(int folder, const char *path, struct error *err);

/* A file that is written under a temporary name, and then replaces the entry of its own name. */
struct fresh_file {
	int fd;               /* open for reading and writing */
	int folder;           /* in which it is created; -1: fd is the file itself, written in place (a device, a pipe) */
	char name[256], temporary[32];
};

/* mode: minus the umask. Creates no folders. < 0: nothing to drop. */
int fresh_open(struct fresh_file *file, int folder, const char *path, mode_t mode, struct error *err);
/* Closes the file and gives it its name; < 0: it is removed, and an existing entry is unchanged. */
int fresh_keep(struct fresh_file *file, struct error *err);
/* Closes and removes the file, unless it has its name. Accepts a file that fresh_open rejected. */
void fresh_drop(struct fresh_file *file);
