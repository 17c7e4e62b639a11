/* The file in which a just-in-time compiler tells of its code: opened where its process saw it, and only if it can be trusted.
 * Knows no format. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* path: as process pid mapped it; seen from that process's root while it lives, from symfs where given ("" or NULL: not). A
 * regular file itself, no link to one, of this user or root unless force. The descriptor and its size, or < 0 (ERROR_PERMISSION:
 * it is someone else's). */
int jit_dump_open(int32_t pid, const char *path, const char *symfs, bool force, uint64_t *size, struct error *err);
/* The folder that the process sees under this path; the descriptor, or < 0. */
int jit_dump_folder(int32_t pid, const char *path, struct error *err);
/* A fresh file there, in place of one that may stand there: links are not followed, other users' files are not written to. */
int jit_dump_create(int folder, const char *name, struct error *err);
