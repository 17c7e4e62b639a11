/* Source files as lines. Each file is opened once. Paths come from debug information: only regular files are read, up to a limit. */
#pragma once
#include <stdint.h>

struct source_texts;

/* prefix: put before paths, after the first `strip` folders of them were dropped; NULL: paths are used as they are. Borrowed. */
struct source_texts *source_texts_new(const char *prefix, unsigned strip);
void source_texts_free(struct source_texts *texts); /* NULL is allowed */
/* Returns the line (from 1) without its end, and stores its length; valid as long as `texts`. NULL: there is no such file or line. path:
 * a text that does not move (struct source_line). */
const char *source_text_line(struct source_texts *texts, const char *path, uint32_t line, uint32_t *length);
