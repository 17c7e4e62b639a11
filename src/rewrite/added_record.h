/* Records that a rewriting adds, appended to a buffer. Each has a trailer as the records of its event have it, with the values of a sample
 * or of another record's trailer. Functions return false, and append nothing, if the record's size exceeds its size field. */
#pragma once
#include <stdbool.h>

#include "base/writer.h"
#include "data/evlist.h"

enum { BUILD_ID_ROOM = 20 };

/* MMAP2. */
struct added_mapping {
	int32_t pid, tid;
	uint64_t start, len, pgoff;
	uint32_t prot, flags;
	unsigned cpumode;
	const uint8_t *build_id;     /* BUILD_ID_ROOM bytes, in place of the file's numbers; NULL: the numbers */
	uint8_t build_id_len;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	const char *folder, *path;   /* the path is "folder/path", or path alone if folder is NULL */
};

/* evsel: NULL: no trailer. */
bool added_mapping_write(const struct added_mapping *mapping, const struct evsel *evsel, const struct sample *sample, struct writer *out);
/* HEADER_BUILD_ID. */
bool added_build_id_write(const char *path, const uint8_t id[static BUILD_ID_ROOM], uint8_t len, unsigned cpumode,
	const struct evsel *evsel, const struct sample *sample, struct writer *out);
