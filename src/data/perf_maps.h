/* Perf maps of recorded processes (/tmp/perf-PID.map), stored with the recording: processes and their files may be gone
 * when it is read. Knows nothing of the text. Layout: docs/recordings.md. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/writer.h"

/* Of 8 bytes. In a file it precedes the body's length (u64) and the body, behind the last feature. */
#define PERF_MAPS_MAGIC "PFMAPS01"

struct stored_map {
	int32_t pid;
	struct span text; /* borrowed */
};

/* Appends a map to a body, which is empty at first. */
void stored_map_add(struct writer *body, const struct stored_map *map);
/* The next map of a body. *at: 0 at first. Returns false at the end, and where the body is damaged. */
bool stored_map_next(struct span body, bool swapped, size_t *at, struct stored_map *map);
