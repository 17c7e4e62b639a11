/* Files of this machine as bytes: only regular files, never blocking, sizes checked. Knows no format. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"
#include "base/error.h"

/* Opens a folder as a root: paths opened from it never lead outside of it. < 0: it cannot be opened. */
int root_open(const char *path);
/* As open(2) for any type of file; if `root` is >= 0, links and ".." are resolved as in the folder `root`. Sets errno. */
int rooted_descriptor(int root, const char *path, int flags);
/* Opens for reading. root: descriptor of the folder as which "/" is seen, for links and ".." too; -1: this process's root. Returns the
 * descriptor, or < 0. */
int rooted_open(int root, const char *path, struct error *err);
/* Maps the whole file. An empty file has no bytes. */
int rooted_map(int root, const char *path, struct span *bytes, struct error *err);
/* As rooted_map for an open regular file; the caller still owns the descriptor. path: for messages. */
int descriptor_map(int fd, const char *path, struct span *bytes, struct error *err);
void rooted_unmap(struct span *bytes);
/* Drops the pages of a mapping from memory; the kernel reads them again on access. */
void rooted_release(struct span bytes);
/* Reads the whole file, at most limit bytes, into malloc'ed memory; for files of /proc, which report no size. */
int rooted_read(int root, const char *path, size_t limit, char **text, size_t *len, struct error *err);
/* As rooted_read for an open file; the caller still owns the descriptor. */
int descriptor_read(int fd, const char *path, size_t limit, char **text, size_t *len, struct error *err);
bool rooted_exists(int root, const char *path); /* and is a regular one */
