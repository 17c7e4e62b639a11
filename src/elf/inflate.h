/* Decompresses complete streams into memory, up to a limit: compressed ELF sections, .gnu_debugdata and kernel modules. Formats: RFC 1950
 * (zlib), RFC 1952 (gzip), xz, RFC 8878 (Zstandard). Knows no ELF. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"

/* Limit of the output, except for streams with a stored size and a plausible ratio: debug information of large programs. */
#define INFLATE_LIMIT ((size_t)256 << 20)
#define INFLATE_RATIO 16u
/* Small outputs, up to INFLATE_FREE bytes, may have any ratio; larger ones have a limited ratio: real sections and modules stay far below
 * it, while formats allow many thousands. */
#define INFLATE_FREE ((size_t)4 << 20)
#define INFLATE_RATIO_MOST 64u

/* Returns whether `stored` bytes may plausibly inflate to `size`. */
bool inflate_plausible(uint64_t stored, uint64_t size);

enum compression { COMPRESSION_NONE, COMPRESSION_ZLIB, COMPRESSION_GZIP, COMPRESSION_XZ, COMPRESSION_ZSTD };

/* By the first bytes; never COMPRESSION_ZLIB, which has no magic. */
enum compression compression_of(struct span bytes);

/* *out: malloc'ed, owned by the caller. Memory grows with the actual output, up to `most` bytes. */
int inflate_all(enum compression kind, struct span in, size_t most, uint8_t **out, size_t *size, struct error *err);
/* As inflate_all for a known size; any other size is an error. */
int inflate_exactly(enum compression kind, struct span in, uint64_t size, uint8_t **out, struct error *err);
