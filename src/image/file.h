/* Files of this machine as bytes: regular files only, never waiting for anyone, sizes checked. Knows no format. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"
#include "base/error.h"

/* A folder to look from: what is opened below it never lies outside. < 0: there is none. */
int root_open(const char *path);
/* As open(2), whatever stands there, with links and ".." as seen from the folder `root` where that is >= 0. Sets errno. */
int rooted_descriptor(int root, const char *path, int flags);
/* Opens for reading. root: a folder's descriptor that the path is seen from, links and ".." included; -1: this process's
 * own root. The descriptor, or < 0. */
int rooted_open(int root, const char *path, struct error *err);
/* Makes the folder and those above it; the text is changed meanwhile. */
bool folders_make(char *path);
/* Maps the file whole. An empty file has no bytes. */
int rooted_map(int root, const char *path, struct span *bytes, struct error *err);
/* The same of a regular file that is open, which stays so. path: for messages. */
int descriptor_map(int fd, const char *path, struct span *bytes, struct error *err);
void rooted_unmap(struct span *bytes);
/* Gives the pages of a mapping back; they come again when they are touched. */
void rooted_release(struct span bytes);
/* Reads the file whole, at most limit bytes, into malloc'ed memory; for files of /proc, whose size is told by none. */
int rooted_read(int root, const char *path, size_t limit, char **text, size_t *len, struct error *err);
bool rooted_exists(int root, const char *path); /* and is a regular one */
