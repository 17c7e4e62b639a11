/* An untrusted file, mapped for reading. Its owner may change each of its bytes at any time (docs/decisions/008), but not the zeros behind
 * its last page, which are private to this process: every string in the file ends there at the latest, and MAPPING_TAIL bytes may be read
 * from any offset. Knows no format. */
#pragma once
#include <stddef.h>

/* the largest size of a record (its size field has 16 bits) */
#define MAPPING_TAIL ((size_t)64 << 10)

/* Maps size > 0 bytes of the regular file; NULL with errno on failure. */
void *mapping_open(int fd, size_t size);
void mapping_close(void *data, size_t size); /* accepts NULL */
/* Where bytes can be added behind a mapping of that size: the end of its last page. */
size_t mapping_end(size_t size);
/* Moves a mapping to where `added` fits behind it, at mapping_end, and writes them there and `head` over its first bytes, for this process
 * alone. Returns its address, and its new size in *size: it is closed as another one is. NULL with errno: the mapping is as before. */
void *mapping_extend(void *data, size_t *size, const void *head, size_t head_size, const void *added, size_t added_size);
