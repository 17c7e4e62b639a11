/* Whether a recording was made on this machine, by the name of the host: then its inode numbers are those of files on this machine. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "data/header.h"

/* Until when processes of this machine are those recorded: recorded_process's until_s. */
int64_t recorded_until(const struct header *header);
bool recorded_here(const struct header *header);
