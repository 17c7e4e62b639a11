/* A text file that the user names: written through a writer beside the existing one, which it replaces when it is complete, so that a full
 * disk loses nothing. Knows no content. */
#pragma once
#include "base/writer.h"
#include "os/checked.h"

struct written_file {
	struct writer out;
	struct fresh_file fresh;
};

/* path: as fresh_open_named. < 0: nothing to drop. */
int written_open(struct written_file *file, const char *path, struct error *err);
/* Writes the buffered rest and replaces the existing file; < 0: *err names path, and an existing file is unchanged. */
int written_keep(struct written_file *file, const char *path, struct error *err);
/* Frees it; a file that did not replace the existing one is removed. Accepts one that written_open rejected, but not a zeroed one. */
void written_drop(struct written_file *file);
