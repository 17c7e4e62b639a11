/* The jitdump of a just-in-time compiler: opened at the path that its process used, and only if it is trustworthy. Knows no format. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* path: as process pid mapped it; seen from that process's root while it lives, from symfs if given ("" or NULL: not). Opens only a regular
 * file, no link, that this user or root owns, unless force is set. Returns the descriptor and stores the size, or < 0 (ERROR_PERMISSION:
 * another user owns it). */
int jit_dump_open(int32_t pid, const char *path, const char *symfs, bool force, uint64_t *size, struct error *err);
/* The same, and stores a descriptor of its folder, which later changes of the path do not affect; *folder is -1 on failure. */
int jit_dump_open_in(int32_t pid, const char *path, const char *symfs, bool force, uint64_t *size, int *folder, struct error *err);
/* Creates a new file there and replaces an existing one: links are not followed, other users' files are not written to. */
int jit_dump_create(int folder, const char *name, struct error *err);
