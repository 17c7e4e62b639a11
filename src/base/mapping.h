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
