/* Files by build-id from debuginfod servers (debuginfod_find_debuginfo(3)), through libdebuginfod, which stores them in a cache folder.
 * Servers are untrusted: size and time are bounded, and the caller compares the build-id. Knows no module. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum debuginfod_file { DEBUGINFOD_DEBUGINFO, DEBUGINFOD_EXECUTABLE };

/* Limits: the time until a file begins, the minimal progress of a download, and the time of all requests of a run without result. */
struct debuginfod_limits {
	uint64_t bytes;                     /* maximal size of one file */
	uint64_t least;                     /* minimal number of bytes per stall_ms */
	unsigned begin_ms, stall_ms, total_ms;
};

extern const struct debuginfod_limits debuginfod_limits_usual;

/* The servers, shared by one run of the program. */
struct debuginfod {
	struct debuginfod_limits limits;
	char *cache;                        /* the cache folder; freed by the owner; NULL: free space is not checked */
	_Atomic uint64_t wasted_ms;     /* in requests without result */
	_Atomic bool given_up;              /* all further requests fail at once */
};

/* Stores the local path of the file in a buffer of `size` bytes; thread-safe. < 0: no server has it, a limit was reached, or
 * (ERROR_UNSUPPORTED) the library is absent. */
int debuginfod_fetch(struct debuginfod *servers, enum debuginfod_file what, const uint8_t *id, uint8_t id_len, char *path, size_t size,
	struct error *err);
