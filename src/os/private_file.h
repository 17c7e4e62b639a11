/* A file that the program caches between runs, in the folder "perfuse" of its user's cache. A file that another user owns or can write
 * counts as absent; other users cannot read what is written. Knows no content. */
#pragma once
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* For a folder that a library opens by path: creates it if it is missing, and stores its path without links. < 0: a folder on the path
 * belongs to a user other than this one and root, or others can write it. */
int private_path(const char *path, char real[static PATH_MAX], struct error *err);

/* Opens the folder below base ("$HOME/.cache"): both must belong to the effective user. make: create it and the last part of base if they
 * are missing. Returns a descriptor; < 0: absent, or not safe. */
int private_folder(const char *base, bool make, struct error *err);
/* Opens a file in it for reading. ERROR_PERMISSION: the file exists, and is not safe. */
int private_file_open(int folder, const char *name, size_t *size, struct error *err);
/* Writes a file with these bytes, completely or not at all. If another run is writing, this one does nothing. */
int private_file_write(int folder, const char *name, const void *bytes, size_t len, struct error *err);
