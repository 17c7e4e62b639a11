/* Ends a finished recording with the index of its samples by time (data/time_index.h). */
#pragma once
#include "base/error.h"

/* path: a file that is not compressed, complete with its header; fd: the same file, to which the index is appended. */
int recording_add_index(const char *path, int fd, struct error *err);
