/* Source files as lines. Each file is opened once. Paths come from debug information: only regular files are read, up to a limit. */
#pragma once
#include <stdint.h>

struct source_files;

/* prefix: put before paths, after the first `strip` folders of them were dropped; NULL: paths are used as they are. Borrowed. */
struct source_files *source_files_new(const char *prefix, unsigned strip);
void source_files_free(struct source_files *texts); /* NULL is allowed */
/* Returns the line (from 1) without its end, and stores its length; valid as long as `texts`. NULL: the file or line does not exist. path:
 * a text that does not move (struct source_line). */
const char *source_files_line(struct source_files *texts, const char *path, uint32_t line, uint32_t *length);
