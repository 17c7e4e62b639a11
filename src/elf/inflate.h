/* Whole compressed streams into memory, with a limit: what ELF sections, .gnu_debugdata and kernel modules are packed with.
 * Formats: RFC 1950 (zlib), RFC 1952 (gzip), xz, RFC 8878 (Zstandard). Knows no ELF. */
#pragma once
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"

/* Nothing inflates to more, whatever it claims, but what tells its size and grows no more than so many times: debug
 * information of large programs. */
#define INFLATE_LIMIT ((size_t)256 << 20)
#define INFLATE_RATIO 16u

enum compression { COMPRESSION_NONE, COMPRESSION_ZLIB, COMPRESSION_GZIP, COMPRESSION_XZ, COMPRESSION_ZSTD };

/* By the first bytes; never COMPRESSION_ZLIB, which has no magic. */
enum compression compression_of(struct span bytes);

/* *out: malloc'ed, to free. Memory grows with what really comes out. */
int inflate_all(enum compression kind, struct span in, uint8_t **out, size_t *size, struct error *err);
/* As inflate_all, where the size is known; another one is an error. */
int inflate_exactly(enum compression kind, struct span in, uint64_t size, uint8_t **out, struct error *err);
