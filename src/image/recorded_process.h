/* Whether a process of this machine is the one that a recording means: numbers of processes are used again. What a process's files and
 * maps say counts only then. */
#pragma once
#include <stdint.h>

#include "image/mapped_file.h"

#define RECORDED_NOW INT64_MAX /* the recording goes on */

/* pid, or -1: it has ended, or is another one. until_s: when the recording ended, in seconds since 1970; RECORDED_NOW; 0: it is of another
 * machine. maps: a file that the process had mapped; NULL, or ino 0: unknown. */
int32_t recorded_process(int32_t pid, int64_t until_s, const struct mapped_identity *maps);
