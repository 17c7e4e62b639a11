/* Files by build-id from debuginfod servers, through libdebuginfod, which keeps what it got under ~/.cache. The servers are
 * those of $DEBUGINFOD_URLS. Knows no module. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum debuginfod_file { DEBUGINFOD_DEBUGINFO, DEBUGINFOD_EXECUTABLE };

/* The local path of the file, in a buffer of `size` bytes. May take as long as servers take; from any thread. < 0: none has
 * it, or (ERROR_UNSUPPORTED) the library is not there. */
int debuginfod_fetch(enum debuginfod_file what, const uint8_t *id, uint8_t id_len, char *path, size_t size, struct error *err);
/* Whether $DEBUGINFOD_URLS names a server. */
bool debuginfod_wanted(void);
