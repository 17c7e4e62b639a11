/* Foreign bytes at rest, read at an offset: a file that may be larger than one wants in memory, and that someone may still be
 * writing to or cutting short. Knows no format. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/bytes.h"

struct reader {
	void *context;
	uint64_t size; /* when it was opened */
	/* How many bytes it got: fewer only at the end; < 0: they cannot be read. */
	ssize_t (*read)(void *context, void *buffer, size_t size, uint64_t offset);
	void (*close)(void *context); /* NULL: nothing to do */
};

/* Takes the descriptor over. */
struct reader reader_of_fd(int fd, uint64_t size);
/* Borrows the span, and its bytes. */
struct reader reader_of_span(const struct span *span);
void reader_close(struct reader *reader); /* a zeroed one is fine */

static inline ssize_t reader_at(const struct reader *reader, void *buffer, size_t size, uint64_t offset)
{
	return reader->read(reader->context, buffer, size, offset);
}
