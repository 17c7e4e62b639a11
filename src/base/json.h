/* Writes JSON (RFC 8259) to a writer as a stream: the caller places braces and commas with these helpers. Bytes that are not UTF-8 become
 * U+FFFD, control characters are escaped, so that the output is always valid. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/writer.h"

/* Writes the text in quotes, or null if it is NULL. */
void json_text(struct writer *out, const char *text);
void json_text_of(struct writer *out, const char *text, size_t len);
/* Writes a finite number with all its digits, otherwise null. The linker sees another name, as jansson has this one. */
void json_real(struct writer *out, double value) __asm__("json_write_real");
/* Writes "name": and, unless *first, a comma before it. Clears *first. */
void json_key(struct writer *out, const char *name, bool *first);
/* Writes a comma unless *first. Clears *first. */
void json_comma(struct writer *out, bool *first);
