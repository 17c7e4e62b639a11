/* Random access to untrusted bytes: a file that may exceed the memory, and that another process may still write or truncate. Knows no
 * format. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/bytes.h"

struct reader {
	void *context;
	uint64_t size; /* in bytes, when it was opened */
	/* Returns the number of bytes read: fewer than size only at the end; < 0 on error. */
	ssize_t (*read)(void *context, void *buffer, size_t size, uint64_t offset);
	void (*close)(void *context); /* NULL: no cleanup */
};

/* Takes ownership of the descriptor. */
struct reader reader_of_fd(int fd, uint64_t size);
/* Borrows the span and its bytes. */
struct reader reader_of_span(const struct span *span);
void reader_close(struct reader *reader); /* accepts a zeroed reader */

static inline ssize_t reader_at(const struct reader *reader, void *buffer, size_t size, uint64_t offset)
{
	return reader->read(reader->context, buffer, size, offset);
}
