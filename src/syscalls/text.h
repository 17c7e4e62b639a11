/* Numbers and bytes of traced programs as text. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/writer.h"

void signed_print(struct writer *out, int64_t value);
void hex_print(struct writer *out, uint64_t value); /* 0x1f; 0 as "0", as printf's %#x */
/* A backslash and three digits. */
void octal_print(struct writer *out, uint8_t byte);
/* A name, with control characters as octal numbers. */
void control_print(struct writer *out, const char *name);
/* A string as in C, within quotes. */
void string_print(struct writer *out, const uint8_t *text, size_t size);
